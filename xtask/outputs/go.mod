module receivers.invalid/server

go 1.25.0

require (
	github.com/influxdata/influxdb v1.11.8
	github.com/prometheus/client_golang v1.24.1
	github.com/prometheus/client_golang/exp v0.0.0-20260602051030-3537b20ac86b
	github.com/prometheus/prometheus v0.313.1
	github.com/prometheus/statsd_exporter v0.31.0
	go.opentelemetry.io/collector/pdata v1.71.0
	google.golang.org/grpc v1.85.0
)
