module receivers.invalid/server

go 1.25.0

require (
	github.com/prometheus/client_golang v1.24.1
	github.com/prometheus/statsd_exporter v0.31.0
	go.opentelemetry.io/collector/pdata v1.71.0
	google.golang.org/grpc v1.85.0
)
