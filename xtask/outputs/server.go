// Receivers of outputs made of the receivers' own code: the OpenTelemetry collector's service and the parser of statsd_exporter.
//
// Prints where each listens, then answers questions on what came in until its input ends.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/statsd_exporter/pkg/line"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/grpc"
)

// What came in for a metric.
type total struct {
	Sum   float64 `json:"sum"`
	Count float64 `json:"count"`
}

type book struct {
	mutex  sync.Mutex
	totals map[string]total
	wrong  []string
}

func (b *book) add(name string, sum, count float64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	t := b.totals[name]
	b.totals[name] = total{t.Sum + sum, t.Count + count}
}

func (b *book) refuse(why string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.wrong = append(b.wrong, why)
}

func (b *book) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	json.NewEncoder(w).Encode(map[string]any{"totals": b.totals, "wrong": b.wrong})
}

func newBook() *book { return &book{totals: map[string]total{}} }

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

type collector struct {
	pmetricotlp.UnimplementedGRPCServer
	book *book
}

func (c collector) Export(_ context.Context, request pmetricotlp.ExportRequest) (pmetricotlp.ExportResponse, error) {
	c.book.mutex.Lock()
	// Everything counts from the beginning: the last report has all.
	c.book.totals = map[string]total{}
	c.book.mutex.Unlock()
	resources := request.Metrics().ResourceMetrics()
	for i := 0; i < resources.Len(); i++ {
		scopes := resources.At(i).ScopeMetrics()
		for j := 0; j < scopes.Len(); j++ {
			metrics := scopes.At(j).Metrics()
			for k := 0; k < metrics.Len(); k++ {
				c.note(metrics.At(k))
			}
		}
	}
	return pmetricotlp.NewExportResponse(), nil
}

func (c collector) note(metric pmetric.Metric) {
	number := func(points pmetric.NumberDataPointSlice) {
		for i := 0; i < points.Len(); i++ {
			point := points.At(i)
			c.book.add(metric.Name(), point.DoubleValue()+float64(point.IntValue()), 1)
		}
	}
	switch metric.Type() {
	case pmetric.MetricTypeSum:
		number(metric.Sum().DataPoints())
	case pmetric.MetricTypeGauge:
		number(metric.Gauge().DataPoints())
	case pmetric.MetricTypeHistogram:
		points := metric.Histogram().DataPoints()
		for i := 0; i < points.Len(); i++ {
			c.book.add(metric.Name(), points.At(i).Sum(), float64(points.At(i).Count()))
		}
	default:
		c.book.refuse(metric.Name() + " is a " + metric.Type().String())
	}
}

func listen(socket net.PacketConn, b *book) {
	parser := line.NewParser()
	parser.EnableDogstatsdParsing()
	counter := func() prometheus.Counter { return prometheus.NewCounter(prometheus.CounterOpts{Name: "n"}) }
	wrong := *prometheus.NewCounterVec(prometheus.CounterOpts{Name: "wrong"}, []string{"reason"})
	packet := make([]byte, 65536)
	for {
		length, _, err := socket.ReadFrom(packet)
		if err != nil {
			return
		}
		for _, text := range strings.Split(string(packet[:length]), "\n") {
			events := parser.LineToEvents(text, wrong, counter(), counter(), counter(), slog.New(slog.DiscardHandler))
			if len(events) == 0 {
				b.refuse(text)
			}
			for _, event := range events {
				b.add(event.MetricName(), event.Value(), 1)
			}
		}
	}
}

func main() {
	reports, lines := newBook(), newBook()

	mux := http.NewServeMux()
	mux.Handle("/opentelemetry", reports)
	mux.Handle("/statsd", lines)
	web := must(net.Listen("tcp", "127.0.0.1:0"))
	go http.Serve(web, mux)

	calls := must(net.Listen("tcp", "127.0.0.1:0"))
	server := grpc.NewServer()
	pmetricotlp.RegisterGRPCServer(server, &collector{book: reports})
	go server.Serve(calls)

	socket := must(net.ListenPacket("udp", "127.0.0.1:0"))
	socket.(*net.UDPConn).SetReadBuffer(4 << 20)
	go listen(socket, lines)

	fmt.Println("web", web.Addr())
	fmt.Println("otlp", calls.Addr())
	fmt.Println("statsd", socket.LocalAddr())
	io.Copy(io.Discard, os.Stdin)
}
