module interop.invalid/connect

go 1.25.0

require connectrpc.com/connect v1.21.1
