/**
 * Progress on a terminal as a bar, elsewhere as plain lines.
 *
 * @module
 */

import { Presets, SingleBar } from 'cli-progress'
import type { Progress } from './seed.ts'

/** How many plain lines a part gives. */
const LINES = 10

/** A progress display for the given stream. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? bar(stream) : lines(stream)
}

function bar(stream: NodeJS.WriteStream): Progress {
  const display = new SingleBar(
    {
      stream,
      format: '  {part} [{bar}] {percentage} %  {value} of {total}, {eta_formatted} left',
      formatValue: (value, _options, type) =>
        type === 'value' || type === 'total' ? value.toLocaleString('en') : String(value),
      hideCursor: true,
      etaBuffer: 50,
    },
    Presets.shades_classic,
  )
  return {
    start: (part, total, done) => display.start(total, done, { part: part.padEnd(10) }),
    advance: (done) => display.update(done),
    stop: () => display.stop(),
  }
}

function lines(stream: NodeJS.WriteStream): Progress {
  let part = ''
  let total = 0
  let next = 0
  const say = (done: number) => {
    stream.write(`  ${part}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')}\n`)
    next = done + total / LINES
  }
  return {
    start(name, all, done) {
      part = name
      total = all
      if (done > 0) say(done)
      else next = total / LINES
    },
    advance(done) {
      if (done >= next || done === total) say(done)
    },
    stop() {},
  }
}
