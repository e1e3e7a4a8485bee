// SPDX-License-Identifier: Apache-2.0

// Command sandboxd-listen runs the server of the released sandboxd on a host of
// choice. The released program listens on 127.0.0.1 only, which a pod's IP, a
// kubelet's probe and a second address on one machine cannot reach.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/stdr"
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
	"sigs.k8s.io/agent-sandbox/packages/sandboxd/pkg/server"
)

var (
	host     = flag.String("listen-host", "0.0.0.0", "address that both ports listen on")
	grpcPort = flag.String("grpc-port", "9090", "port of the process service, 0 for any")
	restPort = flag.String("rest-port", "8080", "port of the file service, 0 for any")
	grace    = flag.Duration("shutdown-timeout", 10*time.Second, "longest orderly shutdown")
	idle     = flag.Duration("http-idle-timeout", time.Minute, "longest idle HTTP connection")
	opts     server.Options
)

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	flag.StringVar(&opts.RootDir, "root-dir", "/workspace", "root of the sandbox, made if missing")
	flag.StringVar(&opts.MetadataEnvPrefix, "metadata-env-prefix", "SANDBOX_", "which environment variables are metadata")
	flag.IntVar(&opts.StreamChunkSize, "stream-chunk-size", 0, "largest piece of output, 0 for the default")
	flag.Parse()
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

func serve() error {
	if err := os.MkdirAll(opts.RootDir, 0o755); err != nil {
		return err
	}
	opts.Log = stdr.New(log.Default())
	daemon, err := server.New(opts)
	if err != nil {
		return err
	}
	grpcSocket, err := net.Listen("tcp", net.JoinHostPort(*host, *grpcPort))
	if err != nil {
		return err
	}
	restSocket, err := net.Listen("tcp", net.JoinHostPort(*host, *restPort))
	if err != nil {
		return err
	}

	processes := grpc.NewServer()
	daemon.RegisterGRPC(processes)
	reflection.Register(processes)
	// No limit on bodies: files may be large and slow.
	files := &http.Server{Handler: daemon.RESTHandler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: *idle}

	failed := make(chan error, 2)
	go func() { failed <- processes.Serve(grpcSocket) }()
	go func() { failed <- files.Serve(restSocket) }()
	fmt.Println("grpc", grpcSocket.Addr(), "rest", restSocket.Addr(), "root", opts.RootDir)

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	select {
	case err = <-failed:
		if errors.Is(err, http.ErrServerClosed) || errors.Is(err, grpc.ErrServerStopped) {
			err = nil
		}
	case <-stop:
	}
	shutdown(daemon, processes, files)
	return err
}

// shutdown ends in the order of the released daemon: not ready, then the child
// processes (which ends their streams), then the two services.
func shutdown(daemon *server.Server, processes *grpc.Server, files *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), *grace)
	defer cancel()
	daemon.SetReady(false)
	daemon.ShutdownProcesses(ctx)
	if files.Shutdown(ctx) != nil {
		files.Close()
	}
	context.AfterFunc(ctx, processes.Stop)
	processes.GracefulStop()
}
