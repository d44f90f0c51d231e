// Brokers of Kafka's protocol for the extension's test script: franz-go's kfake, in the clear with three brokers, with
// logins, and over TLS. What is written to the topic "to-go", franz-go's own client reads and writes to "echo", packed as
// the header "codec" says. Prints where the brokers listen, and ends when its input does.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func cluster(name string, options ...kfake.Opt) []string {
	started, err := kfake.NewCluster(options...)
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	addresses := started.ListenAddrs()
	fmt.Println(name, strings.Join(addresses, ","))
	return addresses
}

func echo(brokers []string) {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	writers := map[string]*kgo.Client{}
	for name, codec := range codecs {
		writer, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ProducerBatchCompression(codec))
		if err != nil {
			log.Fatal(err)
		}
		writers[name] = writer
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics("to-go"))
	if err != nil {
		log.Fatal(err)
	}
	for {
		reader.PollFetches(context.Background()).EachRecord(func(record *kgo.Record) {
			codec := "none"
			for _, header := range record.Headers {
				if header.Key == "codec" {
					codec = string(header.Value)
				}
			}
			answer := &kgo.Record{Topic: "echo", Key: record.Key, Value: record.Value, Headers: record.Headers}
			writers[codec].Produce(context.Background(), answer, func(_ *kgo.Record, err error) {
				if err != nil {
					log.Print(err)
				}
			})
		})
	}
}

func main() {
	folder := os.Args[1]
	plain := cluster("plain", kfake.NumBrokers(3), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(3),
		kfake.SeedTopics(1, "to-go", "echo"), kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	cluster("sasl", kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "ann", "one"),
		kfake.Superuser("SCRAM-SHA-256", "bob", "two"), kfake.Superuser("SCRAM-SHA-512", "cid", "three"))
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"))
	if err != nil {
		log.Fatal(err)
	}
	cluster("tls", kfake.NumBrokers(1), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	go echo(plain)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
