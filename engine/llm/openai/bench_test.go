package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"bureau/engine/llm"

	goopenai "github.com/sashabaranov/go-openai"
)

const benchChunks = 50_000

// benchServer streams 50,000 chunks of one word, as OpenAI writes them.
func benchServer(b *testing.B) *httptest.Server {
	b.Helper()
	var stream bytes.Buffer
	for range benchChunks {
		stream.WriteString(`data: {"id":"chatcmpl-8f2b1c","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5-mini",` +
			`"system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n")
	}
	stream.WriteString(finish("stop") + done)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream.Bytes())
	}))
	b.Cleanup(server.Close)
	return server
}

// BenchmarkStream compares the way from the socket to the callback with go-openai's Recv alone, in one run.
func BenchmarkStream(b *testing.B) {
	server := benchServer(b)
	b.Run("bureau", func(b *testing.B) {
		m := modelOf(b, server.URL+"/v1")
		deltas := 0
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Stream(context.Background(), hello, func(llm.Delta) { deltas++ }); err != nil {
				b.Fatal(err)
			}
		}
		report(b, deltas)
	})
	b.Run("go-openai-recv", func(b *testing.B) {
		config := goopenai.DefaultConfig("")
		config.BaseURL = server.URL + "/v1"
		client := goopenai.NewClientWithConfig(config)
		deltas := 0
		b.ReportAllocs()
		for b.Loop() {
			stream, err := client.CreateChatCompletionStream(context.Background(), goopenai.ChatCompletionRequest{Model: "m"})
			if err != nil {
				b.Fatal(err)
			}
			for {
				_, err := stream.Recv()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				deltas++
			}
			if err := stream.Close(); err != nil {
				b.Fatal(err)
			}
		}
		report(b, deltas)
	})
}

// BenchmarkEvents compares the way from the socket to the callback over the Responses API with go-openai's RecvRaw alone,
// in one run.
func BenchmarkEvents(b *testing.B) {
	var stream bytes.Buffer
	stream.WriteString(added(0, bareMessage("msg_1")))
	for i := range benchChunks {
		fmt.Fprintf(&stream, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_1\","+
			"\"output_index\":0,\"content_index\":0,\"delta\":\" word\",\"logprobs\":[],\"obfuscation\":\"x7Fq2Lw\"}\n\n", i)
	}
	stream.WriteString(completed())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream.Bytes())
	}))
	b.Cleanup(server.Close)
	b.Run("bureau", func(b *testing.B) {
		m := modelOf(b, server.URL+"/v1", overResponses)
		deltas := 0
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Stream(context.Background(), hello, func(llm.Delta) { deltas++ }); err != nil {
				b.Fatal(err)
			}
		}
		report(b, deltas)
	})
	b.Run("go-openai-recvraw", func(b *testing.B) {
		config := goopenai.DefaultConfig("")
		config.BaseURL = server.URL + "/v1"
		config.EmptyMessagesLimit = 1 << 30
		client := goopenai.NewClientWithConfig(config)
		deltas := 0
		b.ReportAllocs()
		for b.Loop() {
			stream, err := client.CreateResponseStream(context.Background(), goopenai.CreateResponseRequest{Model: "m", Input: "hello"})
			if err != nil {
				b.Fatal(err)
			}
			for {
				_, err := stream.RecvRaw()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				deltas++
			}
			if err := stream.Close(); err != nil {
				b.Fatal(err)
			}
		}
		report(b, deltas)
	})
}

func report(b *testing.B, deltas int) {
	b.Helper()
	if deltas < benchChunks*b.N {
		b.Fatal(fmt.Errorf("%d deltas of %d", deltas, benchChunks*b.N))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(deltas), "ns/delta")
	b.ReportMetric(float64(deltas)/b.Elapsed().Seconds(), "deltas/s")
}
