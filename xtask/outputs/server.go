// Receivers of outputs made of the receivers' own code: Prometheus's handler of remote write, storage and query engine; the parser of
// InfluxDB 1's line protocol; the OpenTelemetry collector's service; the parser of statsd_exporter.
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
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/influxdata/influxdb/models"
	"github.com/prometheus/client_golang/exp/api/remote"
	"github.com/prometheus/client_golang/prometheus"
	write "github.com/prometheus/prometheus/storage/remote"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"
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

func influx(b *book) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := must(io.ReadAll(r.Body))
		points, err := models.ParsePointsWithPrecision(body, time.Now(), r.URL.Query().Get("precision"))
		if err != nil {
			b.refuse(err.Error())
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, point := range points {
			fields, err := point.Fields()
			value, ok := fields["value"].(float64)
			if err != nil || !ok {
				b.refuse(point.String())
				continue
			}
			b.add(string(point.Name()), value, 1)
		}
		w.WriteHeader(http.StatusNoContent)
	}
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

func query(engine *promql.Engine, db *tsdb.DB) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := engine.NewInstantQuery(r.Context(), db, nil, r.URL.Query().Get("query"), time.Now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer q.Close()
		vector, err := q.Exec(r.Context()).Vector()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		values := []float64{}
		for _, sample := range vector {
			if !math.IsNaN(sample.F) {
				values = append(values, sample.F)
			}
		}
		json.NewEncoder(w).Encode(values)
	}
}

func main() {
	folder := must(os.MkdirTemp("", "receivers"))
	defer os.RemoveAll(folder)
	quiet := slog.New(slog.DiscardHandler)
	db := must(tsdb.Open(folder, quiet, nil, tsdb.DefaultOptions(), nil))
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: 10 * time.Second})
	points, reports, lines := newBook(), newBook(), newBook()

	mux := http.NewServeMux()
	kinds := remote.MessageTypes{remote.WriteV1MessageType}
	mux.Handle("/api/v1/write", write.NewWriteHandler(quiet, prometheus.NewRegistry(), db, kinds, false, false, false))
	mux.HandleFunc("/api/v1/query", query(engine, db))
	mux.HandleFunc("/query", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/write", influx(points))
	mux.Handle("/influxdb", points)
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
