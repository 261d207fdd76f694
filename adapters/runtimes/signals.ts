/**
 * SIGTERM and SIGINT: every server of the process finishes what is in flight, then the process ends.
 *
 * @module
 */

import process from 'node:process'

/** Ends a server; whether everything was finished in time. */
export type End = () => Promise<boolean>

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** As shells have it for Ctrl-C. */
const INTERRUPTED = 130
const UNFINISHED = 1

/** The servers that signals end. A process has one set of signals, so it is one for all apps in it. */
const ends = new Set<End>()
let ending = false

/** Ends a server by `end` when a signal comes; what it gives takes that back. */
export function endOnSignals(end: End): () => void {
  if (ends.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
  ends.add(end)
  return () => {
    ends.delete(end)
    // A process that is ending keeps its listeners: a second signal must not end it in the old way.
    if (ends.size > 0 || ending) return
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

function onSignal(): void {
  // The second time it is meant.
  if (ending) process.exit(INTERRUPTED)
  ending = true
  void endAll()
}

async function endAll(): Promise<void> {
  const finished = await Promise.allSettled([...ends].map((end) => end()))
  const isFine = finished.every((one) => one.status === 'fulfilled' && one.value)
  process.exit(isFine ? 0 : UNFINISHED)
}
