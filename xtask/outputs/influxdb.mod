module influxdb.invalid/server

go 1.25.0

require (
	github.com/influxdata/influxdb v1.8.3
	golang.org/x/net v0.55.0
	golang.org/x/sys v0.46.0
)
