// SPDX-License-Identifier: Apache-2.0

// The official Go client in its default mode, told what to do line by line: "create POOL", "get CLAIM", "list", "active",
// "delete CLAIM", "disconnect CLAIM". Each answer is one line of JSON. Arguments: the namespace, and "direct" for a client that
// is given a URL. Test-only: nothing of its source is part of sandmux.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/agent-sandbox/clients/go/sandbox"
)

type answer struct {
	Claim       string            `json:"claim,omitempty"`
	Sandbox     string            `json:"sandbox,omitempty"`
	Pod         string            `json:"pod,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Names       []string          `json:"names,omitempty"`
	Ready       bool              `json:"ready,omitempty"`
	Error       string            `json:"error,omitempty"`
}

func say(a answer, err error) {
	if err != nil {
		a.Error = err.Error()
	}
	text, _ := json.Marshal(a)
	fmt.Println(string(text))
}

func about(sb *sandbox.Sandbox) answer {
	return answer{Claim: sb.ClaimName(), Sandbox: sb.SandboxName(), Pod: sb.PodName(), Annotations: sb.Annotations(), Ready: sb.IsReady()}
}

func main() {
	ctx := context.Background()
	ns := os.Args[1]
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	opts := sandbox.Options{RestConfig: config, Namespace: ns, SandboxReadyTimeout: 60 * time.Second, Quiet: true}
	if len(os.Args) > 2 {
		opts.APIURL = os.Args[2]
	}
	client, err := sandbox.NewClient(ctx, opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	known := map[string]*sandbox.Sandbox{}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		var sb *sandbox.Sandbox
		var a answer
		var err error
		switch {
		case len(words) == 2 && words[0] == "create":
			sb, err = client.CreateSandbox(ctx, words[1], ns)
		case len(words) == 2 && words[0] == "get":
			sb, err = client.GetSandbox(ctx, words[1], ns)
		case len(words) == 1 && words[0] == "list":
			a.Names, err = client.ListAllSandboxes(ctx, ns)
		case len(words) == 2 && words[0] == "disconnect":
			err = known[words[1]].Disconnect(ctx)
		case len(words) == 2 && words[0] == "delete":
			err = client.DeleteSandbox(ctx, words[1], ns)
		default:
			err = fmt.Errorf("unknown: %s", in.Text())
		}
		if sb != nil && err == nil {
			a = about(sb)
			known[a.Claim] = sb
		}
		say(a, err)
	}
}
