/** SIGTERM and SIGINT: every server of the process finishes its in-flight requests, then the process ends. */

import process from 'node:process'

/** Ends a server; resolves to whether everything was finished in time. */
export type End = () => Promise<boolean>

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** The exit code that shells use for Ctrl-C. */
const INTERRUPTED = 130
const UNFINISHED = 1

/** The servers to end on a signal. A process has one set of signals, so all its apps share this one. */
const ends = new Set<End>()
let ending = false

/** Calls `end` when a signal comes; returns a function that undoes this. */
export function endOnSignals(end: End): () => void {
  if (ends.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
  ends.add(end)
  return () => {
    ends.delete(end)
    // A process that is ending keeps its listeners: a second signal must not end it in the default way.
    if (ends.size > 0 || ending) return
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

function onSignal(): void {
  // The second signal is taken seriously.
  if (ending) process.exit(INTERRUPTED)
  void endProcess()
}

/** Ends the servers and then the process, as the first signal does. */
export async function endProcess(): Promise<void> {
  if (ending) return
  ending = true
  const finished = await Promise.allSettled([...ends].map((end) => end()))
  const isFine = finished.every((one) => one.status === 'fulfilled' && one.value)
  process.exit(isFine ? 0 : UNFINISHED)
}
