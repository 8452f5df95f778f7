package main

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"
)

// simulated is how long a fleet is looked at, and how often each agent pushes, by chance and on average.
const (
	simulated = 2 * time.Hour
	every     = time.Minute
)

// A fleet is what a host that agents push to is like.
type fleet struct {
	busy     float64 // part of the cores that work
	p50, p99 time.Duration
	pushes   int
}

// simulate lets agents push to a host with so many cores. A push takes one core for the time that one of the costs
// says, drawn by chance, and waits for one if none is free; who comes first is served first. p50 and p99 are of how
// long pushes wait. Seeds are fixed: equal costs have equal answers.
func simulate(agents, cores int, costs series, seed uint64) fleet {
	random := rand.New(rand.NewPCG(seed, uint64(agents)))
	var arrivals []time.Duration
	for range agents {
		for at := pause(random); at < simulated; at += pause(random) {
			arrivals = append(arrivals, at)
		}
	}
	slices.Sort(arrivals)
	free := make(moments, cores) // when each core is
	var waits []time.Duration
	var worked time.Duration
	for _, at := range arrivals {
		begins := max(at, free[0])
		cost := costs[random.IntN(len(costs))].cpu
		waits = append(waits, begins-at)
		free[0] = begins + cost
		heap.Fix(&free, 0)
		if begins < simulated {
			worked += min(cost, simulated-begins)
		}
	}
	slices.Sort(waits)
	return fleet{
		busy:   worked.Seconds() / (simulated.Seconds() * float64(cores)),
		p50:    waits[len(waits)/2],
		p99:    waits[len(waits)*99/100],
		pushes: len(waits),
	}
}

func pause(random *rand.Rand) time.Duration {
	return time.Duration(random.ExpFloat64() * float64(every))
}

// together is how many pushes in a second so many clients come to, each with one after the other, on one machine with
// so many cores: a push takes what the client costs, then what the host does.
func together(clients, cores int, client, host series) float64 {
	random := rand.New(rand.NewPCG(1, uint64(clients)))
	free, ready := make(moments, cores), make(moments, clients)
	const pushes = 10_000
	var last time.Duration
	for range pushes {
		cost := client[random.IntN(len(client))].cpu + host[random.IntN(len(host))].cpu
		last = max(free[0], ready[0]) + cost
		free[0], ready[0] = last, last
		heap.Fix(&free, 0)
		heap.Fix(&ready, 0)
	}
	return pushes / last.Seconds()
}

// moments are a heap, with the earliest first.
type moments []time.Duration

func (m moments) Len() int           { return len(m) }
func (m moments) Less(i, j int) bool { return m[i] < m[j] }
func (m moments) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *moments) Push(any)          {} // their number is fixed
func (m *moments) Pop() any          { return nil }
