// Connect for Go, in both roles: `serve FOLDER` answers what interop.proto lists until its input ends, `call ADDRESS`
// asks the health service of onrush's target and prints a line a case.
package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("expected serve FOLDER or call ADDRESS"))
	}
	if os.Args[1] == "serve" {
		serve(os.Args[2])
		return
	}
	call(os.Args[2])
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

const service = "/onrush.interop.v1.Interop/"

func serve(folder string) {
	mux := http.NewServeMux()
	options := connect.WithCompressMinBytes(1024)
	mux.Handle(service+"Say", connect.NewUnaryHandler(service+"Say",
		func(_ context.Context, asked *connect.Request[structpb.Struct]) (*connect.Response[structpb.Struct], error) {
			answer := connect.NewResponse(asked.Msg)
			for name, values := range asked.Header() {
				if strings.HasPrefix(name, "X-") {
					answer.Header()[name] = values
					answer.Trailer()[name] = values
				}
			}
			return answer, nil
		}, options))
	mux.Handle(service+"Fail", connect.NewUnaryHandler(service+"Fail",
		func(_ context.Context, asked *connect.Request[wrapperspb.Int32Value]) (*connect.Response[emptypb.Empty], error) {
			failure := connect.NewError(connect.Code(asked.Msg.Value), errors.New("as asked: ü"))
			detail, err := connect.NewErrorDetail(wrapperspb.String("why"))
			if err != nil {
				return nil, err
			}
			failure.AddDetail(detail)
			failure.Meta().Set("x-behind", "error")
			return nil, failure
		}, options))
	mux.Handle(service+"Wait", connect.NewUnaryHandler(service+"Wait",
		func(ctx context.Context, asked *connect.Request[wrapperspb.Int32Value]) (*connect.Response[emptypb.Empty], error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Duration(asked.Msg.Value) * time.Millisecond):
				return connect.NewResponse(&emptypb.Empty{}), nil
			}
		}, options))
	mux.Handle(service+"Count", connect.NewServerStreamHandler(service+"Count",
		func(_ context.Context, asked *connect.Request[wrapperspb.Int32Value], answer *connect.ServerStream[wrapperspb.Int64Value]) error {
			answer.ResponseTrailer().Set("x-behind", "messages")
			for number := int64(1); number <= int64(asked.Msg.Value); number++ {
				if number > 100 {
					return connect.NewError(connect.CodeOutOfRange, errors.New("no more than 100"))
				}
				if err := answer.Send(wrapperspb.Int64(number)); err != nil {
					return err
				}
			}
			return nil
		}, connect.WithCompressMinBytes(0)))
	mux.Handle(service+"Sum", connect.NewClientStreamHandler(service+"Sum",
		func(_ context.Context, asked *connect.ClientStream[wrapperspb.Int32Value]) (*connect.Response[wrapperspb.Int64Value], error) {
			sum := int64(0)
			for asked.Receive() {
				sum += int64(asked.Msg().Value)
			}
			return connect.NewResponse(wrapperspb.Int64(sum)), asked.Err()
		}, options))
	mux.Handle(service+"Chat", connect.NewBidiStreamHandler(service+"Chat",
		func(_ context.Context, both *connect.BidiStream[wrapperspb.StringValue, wrapperspb.StringValue]) error {
			for {
				message, err := both.Receive()
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err == nil {
					err = both.Send(message)
				}
				if err != nil {
					return err
				}
			}
		}, options))

	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	go func() { fail((&http.Server{Handler: mux, Protocols: protocols}).Serve(plain)) }()
	secure := httptest.NewUnstartedServer(mux)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(folder, "ca.pem"), certificate, 0o644); err != nil {
		fail(err)
	}
	fmt.Println("plain", plain.Addr())
	fmt.Println("tls", secure.Listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func call(address string) {
	http2 := &http.Protocols{}
	http2.SetUnencryptedHTTP2(true)
	clients := map[string]*http.Client{
		"http1": {Transport: &http.Transport{TLSClientConfig: &tls.Config{}}},
		"http2": {Transport: &http.Transport{Protocols: http2}},
	}
	codecs := map[string][]connect.ClientOption{
		"proto":     nil,
		"json":      {connect.WithProtoJSON()},
		"proto gz":  {connect.WithSendGzip()},
		"json gzip": {connect.WithProtoJSON(), connect.WithSendGzip()},
	}
	for version, client := range clients {
		for codec, options := range codecs {
			told := func(name string, problem error) {
				if problem == nil {
					fmt.Println("ok", name, version, codec)
				} else {
					fmt.Println("not ok", name, version, codec+":", problem)
				}
			}
			check := connect.NewClient[health.HealthCheckRequest, health.HealthCheckResponse](
				client, "http://"+address+"/grpc.health.v1.Health/Check", options...)
			told("unary", serves(check))
			told("error", isNotFound(check))
			watch := connect.NewClient[health.HealthCheckRequest, health.HealthCheckResponse](
				client, "http://"+address+"/grpc.health.v1.Health/Watch", options...)
			told("stream", watches(watch))
			told("deadline", endsInTime(watch))
		}
	}
}

type healthClient = connect.Client[health.HealthCheckRequest, health.HealthCheckResponse]

func serves(client *healthClient) error {
	answer, err := client.CallUnary(context.Background(), connect.NewRequest(&health.HealthCheckRequest{}))
	if err == nil && answer.Msg.Status != health.HealthCheckResponse_SERVING {
		return fmt.Errorf("status %v", answer.Msg.Status)
	}
	return err
}

func isNotFound(client *healthClient) error {
	request := connect.NewRequest(&health.HealthCheckRequest{Service: "nobody"})
	_, err := client.CallUnary(context.Background(), request)
	var failure *connect.Error
	if !errors.As(err, &failure) || failure.Code() != connect.CodeNotFound || failure.Message() != "unknown service \"nobody\"" {
		return fmt.Errorf("found %v", err)
	}
	return nil
}

func watches(client *healthClient) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := client.CallServerStream(ctx, connect.NewRequest(&health.HealthCheckRequest{}))
	if err != nil {
		return err
	}
	if !stream.Receive() || stream.Msg().Status != health.HealthCheckResponse_SERVING {
		return fmt.Errorf("found %v, %v", stream.Msg(), stream.Err())
	}
	return nil
}

func endsInTime(client *healthClient) error {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	stream, err := client.CallServerStream(ctx, connect.NewRequest(&health.HealthCheckRequest{}))
	if err != nil {
		return err
	}
	for stream.Receive() {
	}
	if connect.CodeOf(stream.Err()) != connect.CodeDeadlineExceeded {
		return fmt.Errorf("found %v", stream.Err())
	}
	return nil
}
