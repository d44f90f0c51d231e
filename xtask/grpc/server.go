// gRPC for Go as a server to test against: its own interop service, health checks and reflection, in cleartext, over TLS, and
// without reflection. `server FOLDER` writes a certificate authority and a client's certificate into the folder, then prints one
// line an address, and serves until its standard input ends.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
)

func main() {
	folder := os.Args[1]
	serve("plain", newServer(), true)
	serve("mute", newServer(), false)
	serve("tls", newServer(grpc.Creds(credentials.NewTLS(certify(folder)))), true)
	io.Copy(io.Discard, os.Stdin)
}

// The interop service compresses nothing of its own accord: a call asks for it by metadata.
func newServer(options ...grpc.ServerOption) *grpc.Server {
	compress := func(ctx context.Context) {
		asked, _ := metadata.FromIncomingContext(ctx)
		if wanted := asked.Get("x-compress"); len(wanted) > 0 {
			check(grpc.SetSendCompressor(ctx, wanted[0]))
		}
	}
	unary := func(ctx context.Context, in any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		compress(ctx)
		return next(ctx, in)
	}
	stream := func(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		compress(stream.Context())
		return next(service, stream)
	}
	return grpc.NewServer(append(options, grpc.UnaryInterceptor(unary), grpc.StreamInterceptor(stream))...)
}

func serve(name string, server *grpc.Server, reflects bool) {
	testpb.RegisterTestServiceServer(server, interop.NewTestServer())
	states := health.NewServer()
	states.SetServingStatus("up", healthpb.HealthCheckResponse_SERVING)
	states.SetServingStatus("down", healthpb.HealthCheckResponse_NOT_SERVING)
	healthpb.RegisterHealthServer(server, states)
	if reflects {
		reflection.Register(server)
	}
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println(name, listener.Addr())
	go server.Serve(listener)
}

// An authority, which signs the server and the client that the server demands.
func certify(folder string) *tls.Config {
	template := func(serial int64, name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		}
	}
	root, rootKey := template(1, "interop authority"), must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	root.IsCA, root.BasicConstraintsValid, root.KeyUsage = true, true, x509.KeyUsageCertSign
	signed := func(certificate *x509.Certificate, key *ecdsa.PrivateKey) []byte {
		return must(x509.CreateCertificate(rand.Reader, certificate, root, &key.PublicKey, rootKey))
	}
	write := func(name, kind string, bytes []byte) []byte {
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
		check(os.WriteFile(filepath.Join(folder, name), text, 0o600))
		return text
	}
	authority := write("ca.pem", "CERTIFICATE", signed(root, rootKey))
	pair := func(serial int64, name string, use x509.ExtKeyUsage) ([]byte, []byte) {
		leaf, key := template(serial, name), must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
		leaf.ExtKeyUsage, leaf.IPAddresses = []x509.ExtKeyUsage{use}, []net.IP{net.IPv4(127, 0, 0, 1)}
		certificate := write(name+".pem", "CERTIFICATE", signed(leaf, key))
		return certificate, write(name+".key", "PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))
	}
	pair(2, "client", x509.ExtKeyUsageClientAuth)
	own := must(tls.X509KeyPair(pair(3, "server", x509.ExtKeyUsageServerAuth)))
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(authority)
	return &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: known, ClientAuth: tls.RequireAndVerifyClientCert}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
