/**
 * `GET /metrics`: how many requests there were and how long they took, in Prometheus's text format.
 *
 * @module
 */

import { methodName, type Observer } from '../ports/observer.ts'
import type { Mountable } from '../records/engine/host.ts'

const NAME = 'http_server_request_duration_seconds'

/** The upper bounds of the histogram in seconds, as OpenTelemetry's conventions advise. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** The requests with the same labels. */
class Series {
  readonly labels: string
  /** How many requests took up to each bound and longer than the one before. */
  readonly counts: number[] = BOUNDS.map(() => 0)
  count = 0
  sum = 0

  constructor(labels: string) {
    this.labels = labels
  }

  add(seconds: number): void {
    const at = BOUNDS.findIndex((bound) => seconds <= bound)
    if (at !== -1) this.counts[at] = (this.counts[at] ?? 0) + 1
    this.count += 1
    this.sum += seconds
  }

  lines(): string[] {
    let below = 0
    const buckets = BOUNDS.map((bound, at) => {
      below += this.counts[at] ?? 0
      return `${NAME}_bucket{${this.labels},le="${bound}"} ${below}`
    })
    return [
      ...buckets,
      `${NAME}_bucket{${this.labels},le="+Inf"} ${this.count}`,
      `${NAME}_sum{${this.labels}} ${this.sum}`,
      `${NAME}_count{${this.labels}} ${this.count}`,
    ]
  }
}

/**
 * Counts the requests of every app that it is mounted in, from then on, in this process. The label `route` is the
 * pattern that matched, or `unmatched`, so that the number of series is limited.
 *
 * ```ts
 * app.mount('/', metrics())
 * ```
 */
export function metrics(): Mountable {
  const known = new Map<string, Series>()
  const observer: Observer = {
    async request(request, respond) {
      const from = performance.now()
      const response = await respond()
      const seconds = (performance.now() - from) / 1000
      seriesOf(known, methodName(request.method), request.route, response.status).add(seconds)
      return response
    },
  }
  return {
    early: true,
    attach({ observers, guards }) {
      if (!observers.includes(observer)) observers.push(observer)
      const handler = () => new Response(textOf(known), { headers: HEADERS })
      // Early routes come before the app's guards, but these figures are not for everyone.
      const about = { summary: 'The figures of the requests, for Prometheus' }
      return [{ method: 'GET', path: '/metrics', guards, handler, about }]
    },
  }
}

const HEADERS = {
  'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
  'Cache-Control': 'no-store',
}

function seriesOf(
  known: Map<string, Series>,
  method: string,
  route: string,
  status: number,
): Series {
  const key = `${method} ${status} ${route}`
  const found = known.get(key)
  if (found) return found
  const shown = route === '' ? 'unmatched' : escaped(route)
  const series = new Series(`method="${method}",route="${shown}",status="${status}"`)
  known.set(key, series)
  return series
}

function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function textOf(known: ReadonlyMap<string, Series>): string {
  const lines = [...known.values()].flatMap((series) => series.lines())
  const head = [`# HELP ${NAME} Duration of HTTP server requests.`, `# TYPE ${NAME} histogram`]
  return `${[...head, ...lines].join('\n')}\n`
}
