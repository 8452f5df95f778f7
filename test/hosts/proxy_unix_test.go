//go:build unix

package hosts_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A line is what connections through a proxy are like.
type line struct {
	delay time.Duration // each way
	rate  int           // bytes a second, each way; 0 for any
	cut   int64         // bytes from the client after which a connection ends
	cuts  int           // how many connections end so
}

// A proxy leads to an address, over a line.
type proxy struct {
	address     string
	line        atomic.Pointer[line]
	cut         atomic.Int64 // connections that ended so
	connections atomic.Int64
	turns       atomic.Int64 // how often the client said something after it had heard from the server
	open        sync.WaitGroup
}

// proxyTo starts a proxy to an address, as a network has it: "tcp" or "unix".
func proxyTo(t testing.TB, network, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String()}
	p.line.Store(new(line))
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.connections.Add(1)
			p.open.Add(1)
			all.Go(func() {
				defer p.open.Done()
				defer client.Close()
				server, err := net.Dial(network, to)
				if err != nil {
					t.Error(err)
					return
				}
				defer server.Close()
				p.carry(client, server)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return p
}

// carry carries both ways until both have ended, or the line is cut.
func (p *proxy) carry(client, server net.Conn) {
	how := *p.line.Load()
	cuts := how.cuts > 0 && p.cut.Add(1) <= int64(how.cuts)
	var answered atomic.Bool
	answered.Store(true)
	var both sync.WaitGroup
	both.Go(func() {
		from := io.Reader(client)
		if cuts {
			from = io.LimitReader(client, how.cut)
		}
		how.copy(server, from, func() {
			if answered.Swap(false) {
				p.turns.Add(1)
			}
		}, func() {})
		if cuts {
			client.Close()
			server.Close()
		}
		closeWrite(server)
	})
	both.Go(func() {
		how.copy(client, server, func() {}, func() { answered.Store(true) })
		closeWrite(client)
	})
	both.Wait()
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// copy copies at the line's pace, and tells of each piece that comes and goes.
func (l line) copy(to io.Writer, from io.Reader, comes, goes func()) {
	type piece struct {
		data []byte
		at   time.Time
	}
	pieces := make(chan piece, 1<<10)
	go func() {
		defer close(pieces)
		for {
			data := make([]byte, 4<<10)
			n, err := from.Read(data)
			if n > 0 {
				comes()
				pieces <- piece{data[:n], time.Now().Add(l.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	free := time.Now() // when the last piece has gone
	for p := range pieces {
		if free.Before(p.at) {
			free = p.at
		}
		if l.rate > 0 {
			free = free.Add(time.Duration(len(p.data)) * time.Second / time.Duration(l.rate))
		}
		time.Sleep(time.Until(free))
		goes()
		if _, err := to.Write(p.data); err != nil {
			for range pieces { // until the other side is closed
			}
			return
		}
	}
}
