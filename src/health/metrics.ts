/** `GET /metrics`: how many requests there were and how long they took, in Prometheus's text format. */

import { isWorker, topic } from '#processes'
import { methodName, type Observer } from '../ports/services/observer.ts'
import type { BackgroundWork } from '../records/engine/background-work.ts'
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

  /** Adds what another process has counted. */
  merge({ counts, count, sum }: Omit<Part, 'labels'>): void {
    for (const [at, more] of counts.entries()) this.counts[at] = (this.counts[at] ?? 0) + more
    this.count += count
    this.sum += sum
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

/** Requests with the same labels, which a worker has counted since it last told the first process. */
type Part = Pick<Series, 'labels' | 'counts' | 'count' | 'sum'>

/** How long a worker counts before it tells the first process, in milliseconds. */
const TELL_MS = 1000

/** Every process makes the same ones in the same order, so their numbers tell them apart. */
let made = 0

/**
 * Counts the requests of every app that it is mounted in, from then on, in this process. The processes of
 * `serve(app, { processes })` count together: each shows the requests of all, those of the others up to a second ago.
 * The label `route` is the pattern that matched, or `unmatched`, so that the number of series is limited.
 *
 * ```ts
 * app.mount('/', metrics())
 * ```
 */
export function metrics(): Mountable {
  const known = new Map<string, Series>()
  made += 1
  const totals = topic<readonly Part[], string>(`metrics ${made}`)
  totals.answer((parts) => {
    for (const part of parts) seriesOf(known, part.labels, () => part.labels).merge(part)
    return textOf(known)
  })
  const tell = () => {
    const parts = [...known.values()]
    known.clear()
    return totals.ask(parts)
  }
  const observer: Observer = {
    async request(request, respond) {
      const from = performance.now()
      const response = await respond()
      const seconds = (performance.now() - from) / 1000
      // A first process that doesn't answer is about to end.
      if (isWorker && known.size === 0) setTimeout(() => tell().catch(() => {}), TELL_MS)
      const { route } = request
      const { status } = response
      // Never the method as it was sent: clients could make a series with each request.
      const method = methodName(request.method)
      const labels = () => labelsOf(method, route, status)
      seriesOf(known, `${method} ${status} ${route}`, labels).add(seconds)
      return response
    },
  }
  return {
    early: true,
    attach({ observers, guards, background }) {
      if (!observers.includes(observer)) observers.push(observer)
      const handler = async () => {
        const text = isWorker ? await tell() : textOf(known)
        return new Response(text + (await textOfWork(background)), { headers: HEADERS })
      }
      // Early routes come before the app's guards, but these figures are not for everyone.
      const about = { summary: 'The figures of the requests, for Prometheus' }
      return [{ method: 'GET', path: '/metrics', guards, handler, about }]
    },
  }
}

/** The figures of jobs, consumers and webhooks; without those that can't be read now. */
async function textOfWork(background: readonly BackgroundWork[]): Promise<string> {
  const all = await Promise.allSettled(background.map((work) => work.status()))
  const found = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const jobs = found.filter((one) => one.kind === 'job')
  const consumers = found.filter((one) => one.kind === 'consumer')
  const behind = (at?: Date) => (at ? Math.max(0, (Date.now() - at.getTime()) / 1000) : 0)
  const failed = 'Whether the last run of a job failed.'
  const lag = 'Age of the first change that a consumer has not looked at.'
  const waiting = 'Changes that wait to be tried again.'
  const aside = 'Changes that were set aside.'
  return [
    gauge('job_failed', failed, jobs, (one) => +(one.error !== '')),
    gauge('consumer_lag_seconds', lag, consumers, (one) => behind(one.behind)),
    gauge('consumer_waiting', waiting, consumers, (one) => one.waiting),
    gauge('consumer_set_aside', aside, consumers, (one) => one.aside),
  ].join('')
}

/** A metric of each of `all`; nothing if there are none. */
function gauge<W extends { readonly kind: string; readonly name: string }>(
  of: string,
  help: string,
  all: readonly W[],
  figure: (one: W) => number,
): string {
  if (all.length === 0) return ''
  const name = `fieldgate_${of}`
  const lines = all.map((one) => `${name}{${one.kind}="${escaped(one.name)}"} ${figure(one)}\n`)
  return [`# HELP ${name} ${help}\n# TYPE ${name} gauge\n`, ...lines].join('')
}

const HEADERS = {
  'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
  'Cache-Control': 'no-store',
}

/** The series under `key`, which costs less to make than its labels. */
function seriesOf(known: Map<string, Series>, key: string, labels: () => string): Series {
  const found = known.get(key)
  if (found) return found
  const series = new Series(labels())
  known.set(key, series)
  return series
}

function labelsOf(method: string, route: string, status: number): string {
  const shown = route === '' ? 'unmatched' : escaped(route)
  return `method="${method}",route="${shown}",status="${status}"`
}

function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function textOf(known: ReadonlyMap<string, Series>): string {
  const lines = [...known.values()].flatMap((series) => series.lines())
  const head = [`# HELP ${NAME} Duration of HTTP server requests.`, `# TYPE ${NAME} histogram`]
  return `${[...head, ...lines].join('\n')}\n`
}
