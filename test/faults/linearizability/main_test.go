package main

import (
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

func legal(t *testing.T, lines ...string) bool {
	t.Helper()
	history, err := read(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return porcupine.CheckOperations(register, history)
}

const (
	written   = `{"record":"a","kind":"write","value":1,"outcome":"ok","call":1,"return":2}`
	swapped   = `{"record":"a","kind":"swap","value":2,"expected":1,"outcome":"ok","call":3,"return":4}`
	unknown   = `{"record":"a","kind":"write","value":3,"outcome":"unknown","call":5,"return":6}`
	freshRead = `{"record":"a","kind":"read","value":2,"outcome":"ok","call":7,"return":8}`
	staleRead = `{"record":"a","kind":"read","value":1,"outcome":"ok","call":7,"return":8}`
	lateRead  = `{"record":"a","kind":"read","value":3,"outcome":"ok","call":9,"return":10}`
	elsewhere = `{"record":"b","kind":"read","value":0,"outcome":"ok","call":7,"return":8}`
)

func TestAcceptsWhatARegisterShows(t *testing.T) {
	if !legal(t, written, swapped, freshRead, elsewhere) {
		t.Error("a history of one client was refused")
	}
}

func TestAWriteOfUnknownOutcomeMayHappenOrNot(t *testing.T) {
	if !legal(t, written, swapped, unknown, freshRead, lateRead) || !legal(t, written, swapped, unknown, freshRead) {
		t.Error("either end of a write without a response was refused")
	}
	if legal(t, written, swapped, unknown, lateRead, strings.Replace(freshRead, `7,"return":8`, `11,"return":12`, 1)) {
		t.Error("a write was taken back")
	}
}

func TestRefusesAStaleRead(t *testing.T) {
	if legal(t, written, swapped, staleRead) {
		t.Error("a stale read was accepted")
	}
}

func TestRefusesASwapThatLosesAWrite(t *testing.T) {
	second := strings.Replace(swapped, `"value":2`, `"value":4`, 1)
	if legal(t, written, swapped, second) {
		t.Error("two swaps of one value were accepted")
	}
	refused := strings.Replace(swapped, `"outcome":"ok"`, `"outcome":"refused"`, 1)
	if legal(t, written, refused) {
		t.Error("a swap was refused although its condition was met")
	}
}
