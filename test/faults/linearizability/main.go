// Command linearizability says whether a history of requests to single records is linearizable.
//
// It reads a file of JSON lines, one request each, and ends with exit code 0 when a register for each record could have
// given every response, 1 when none could, and 2 when it could not tell in time.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// Request is one line of a history.
type Request struct {
	// Record is the record's id; every record is checked by itself.
	Record string `json:"record"`
	// Kind is "read", "write" or "swap", a write under the condition that the record still has the value Expected.
	Kind     string `json:"kind"`
	Value    int64  `json:"value"`
	Expected int64  `json:"expected"`
	// Outcome is "ok", "refused" for a swap whose condition was not met, or "unknown": it may have happened at any time
	// since it was sent, or never.
	Outcome string `json:"outcome"`
	// Call and Return are nanoseconds of one clock.
	Call   int64 `json:"call"`
	Return int64 `json:"return"`
}

const patience = 2 * time.Minute

// register is a record: it has the value of the last write. Its first value is 0.
var register = porcupine.Model{
	Init: func() any { return int64(0) },
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byRecord := map[string][]porcupine.Operation{}
		for _, operation := range history {
			record := operation.Input.(Request).Record
			byRecord[record] = append(byRecord[record], operation)
		}
		parts := [][]porcupine.Operation{}
		for _, part := range byRecord {
			parts = append(parts, part)
		}
		return parts
	},
	Step: func(state, input, _ any) (bool, any) {
		value, request := state.(int64), input.(Request)
		switch {
		case request.Kind == "read":
			return request.Value == value, value
		case request.Kind == "write":
			return true, request.Value
		case request.Outcome == "refused":
			return request.Expected != value, value
		case request.Expected == value:
			return true, request.Value
		default:
			// It has not happened, which only one of unknown outcome may be.
			return request.Outcome == "unknown", value
		}
	},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: linearizability <history>")
		os.Exit(2)
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	history, err := read(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	switch porcupine.CheckOperationsTimeout(register, history, patience) {
	case porcupine.Ok:
		fmt.Println("linearizable")
	case porcupine.Illegal:
		fmt.Println("not linearizable")
		os.Exit(1)
	default:
		fmt.Println("not known in time")
		os.Exit(2)
	}
}

// read gives the requests of a history as porcupine takes them. One of unknown outcome never returns.
func read(source io.Reader) ([]porcupine.Operation, error) {
	history := []porcupine.Operation{}
	lines := bufio.NewScanner(source)
	for lines.Scan() {
		request := Request{}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			return nil, err
		}
		returned := request.Return
		if request.Outcome == "unknown" {
			returned = math.MaxInt64
		}
		history = append(history, porcupine.Operation{Input: request, Call: request.Call, Return: returned})
	}
	return history, lines.Err()
}
