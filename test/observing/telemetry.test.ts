import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { afterEach, describe, expect, it } from 'vitest'
import { telemetry } from '../../adapters/telemetry/opentelemetry.ts'
import { note, observedApp, slowStore } from './observed.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${spanId}-01`

/** Registers the SDK as a program would; gives the spans that have ended. */
function sdk(options: Parameters<NodeTracerProvider['register']>[0] = {}): () => ReadableSpan[] {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register(options)
  return () => exporter.getFinishedSpans()
}

/** The SERVER span, which is the only one. */
function serverSpan(spans: readonly ReadableSpan[]): ReadableSpan {
  const servers = spans.filter(({ kind }) => kind === SpanKind.SERVER)
  expect(servers).toHaveLength(1)
  return servers[0] as ReadableSpan
}

afterEach(() => {
  trace.disable()
  context.disable()
  propagation.disable()
})

describe('telemetry with an SDK', () => {
  it('makes a SERVER span for a request, and a child of it for each call of the store', async () => {
    const { app, ask } = observedApp({ telemetry: telemetry() })
    await app.ready()
    const spans = sdk()
    expect((await ask('/notes?page=1', { headers: { traceparent } })).status).toBe(200)
    const server = serverSpan(spans())
    expect(server.name).toBe('GET /notes')
    expect(server.spanContext().traceId).toBe(traceId)
    expect(server.parentSpanContext).toMatchObject({ spanId, isRemote: true })
    expect(server.status.code).toBe(SpanStatusCode.UNSET)
    expect(server.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/notes',
      'http.response.status_code': 200,
      'url.path': '/notes',
      'url.scheme': 'http',
    })
    const calls = spans().filter(({ kind }) => kind === SpanKind.CLIENT)
    expect(calls.map(({ name }) => name).sort()).toEqual(['count notes', 'find notes'])
    for (const call of calls) {
      expect(call.parentSpanContext?.spanId).toBe(server.spanContext().spanId)
      expect(call.attributes).toEqual({
        'db.system.name': 'sqlite',
        'db.collection.name': 'notes',
        'db.operation.name': call.name.split(' ')[0],
      })
    }
  })

  it('takes the route for the name, never the path, and no query string anywhere', async () => {
    const spans = sdk()
    const { ask } = observedApp({ telemetry: telemetry() })
    await ask('/notes/123456789012345678901234?token=secret')
    const server = serverSpan(spans())
    expect(server.name).toBe('GET /notes/:id')
    expect(server.attributes['http.route']).toBe('/notes/:id')
    expect(JSON.stringify(server.attributes)).not.toContain('secret')
  })

  it('knows no route for a path that nobody serves, and no name for a method that nobody knows', async () => {
    const spans = sdk()
    const { ask } = observedApp({ telemetry: telemetry() })
    await ask('/nowhere', { method: 'BREW' })
    const server = serverSpan(spans())
    expect(server.name).toBe('HTTP')
    expect(server.attributes).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'BREW',
      'http.response.status_code': 404,
    })
    expect(server.attributes).not.toHaveProperty('http.route')
  })

  it.each([
    ['/notes/broken', 500, SpanStatusCode.ERROR],
    ['/notes/out', 503, SpanStatusCode.ERROR],
    ['/notes/no-id', 400, SpanStatusCode.UNSET],
    ['/nowhere', 404, SpanStatusCode.UNSET],
  ])('GET %s is %i: an error from 500 on alone', async (path, status, code) => {
    const spans = sdk()
    const { ask } = observedApp({ telemetry: telemetry() })
    expect((await ask(path)).status).toBe(status)
    const server = serverSpan(spans())
    expect(server.status.code).toBe(code)
    expect(server.attributes['error.type']).toBe(status >= 500 ? String(status) : undefined)
  })

  it('marks a call of the store that fails, without what the error says', async () => {
    const spans = sdk()
    const store = slowStore(0, 'ann@example.com is taken')
    const { ask } = observedApp({ telemetry: telemetry(), store })
    expect((await ask('/notes')).status).toBe(500)
    const call = spans().find(({ name }) => name === 'find notes')
    expect(call?.status).toEqual({ code: SpanStatusCode.ERROR })
    expect(call?.attributes['error.type']).toBe('Error')
    const seen = spans().map(({ events, attributes, status }) => ({ events, attributes, status }))
    expect(JSON.stringify(seen)).not.toContain('ann@example.com')
  })

  it('keeps requests of the same time apart', async () => {
    const spans = sdk()
    const { ask } = observedApp({ telemetry: telemetry(), store: slowStore(5) })
    const ids = Array.from({ length: 30 }, (_, at) => (at + 1).toString(16).padStart(32, '0'))
    await Promise.all(
      ids.map((id) => ask('/notes', { headers: { traceparent: `00-${id}-${spanId}-01` } })),
    )
    const finds = spans().filter(({ name }) => name === 'find notes')
    expect(finds.map((span) => span.spanContext().traceId).sort()).toEqual(ids)
    const servers = new Map(
      spans()
        .filter(({ kind }) => kind === SpanKind.SERVER)
        .map((span) => [span.spanContext().spanId, span.spanContext().traceId]),
    )
    for (const find of finds) {
      const parent = find.parentSpanContext?.spanId ?? ''
      expect(servers.get(parent)).toBe(find.spanContext().traceId)
    }
  })

  it('puts the trace of its span into every line of the request', async () => {
    const spans = sdk()
    const { ask, lines } = observedApp({
      telemetry: telemetry(),
      accessLog: true,
      slowMs: 5,
      store: slowStore(10),
    })
    await ask('/notes/own')
    await ask('/notes')
    const ids = spans()
      .filter(({ kind }) => kind === SpanKind.SERVER)
      .map((span) => span.spanContext().traceId)
    expect(lines.map(([, message, { traceId }]) => [message, traceId])).toEqual([
      ['an own line', ids[0]],
      ['request', ids[0]],
      ["Router '/notes': onGet failed, reading without it", ids[1]],
      ['slow store call', ids[1]],
      ['request', ids[1]],
    ])
  })

  it('lets spans of the handler be children of the request', async () => {
    const spans = sdk()
    const { app, ask } = observedApp({ telemetry: telemetry() })
    app.use(() => trace.getTracer('own').startActiveSpan('guard', (span) => span.end()))
    await ask('/notes/own')
    const guard = spans().find(({ name }) => name === 'guard')
    expect(guard?.parentSpanContext?.spanId).toBe(serverSpan(spans()).spanContext().spanId)
  })

  it('takes the parent from traceparent where no propagator is registered', async () => {
    const spans = sdk({ propagator: null })
    const { ask } = observedApp({ telemetry: telemetry() })
    await ask('/notes', { headers: { traceparent } })
    expect(serverSpan(spans()).parentSpanContext).toMatchObject({ traceId, spanId })
  })

  it('begins a trace where traceparent is invalid', async () => {
    const spans = sdk()
    const { ask } = observedApp({ telemetry: telemetry() })
    await ask('/notes', { headers: { traceparent: `${traceparent}-more` } })
    expect(serverSpan(spans()).parentSpanContext).toBeUndefined()
  })

  it('still makes spans for requests where nothing manages contexts', async () => {
    const spans = sdk({ contextManager: null })
    const { ask } = observedApp({ telemetry: telemetry() })
    expect((await ask('/notes', note('one'))).status).toBe(201)
    expect(spans().map(({ name }) => name)).toEqual(['POST /notes'])
  })

  it('makes no spans at start-up, which belongs to no request', async () => {
    const spans = sdk()
    const { app } = observedApp({ telemetry: telemetry() })
    await app.ready()
    expect(spans()).toEqual([])
  })
})

describe('telemetry without an SDK', () => {
  it('changes nothing: the lines name the trace of the header, or none', async () => {
    const { ask, said } = observedApp({ telemetry: telemetry(), accessLog: true })
    expect((await ask('/notes', { headers: { traceparent } })).status).toBe(200)
    expect((await ask('/notes')).status).toBe(200)
    const lines = said('request')
    expect(lines.map(([, , details]) => details.traceId)).toEqual([traceId, undefined])
  })

  it('takes up an SDK that is registered later', async () => {
    const { ask } = observedApp({ telemetry: telemetry() })
    await ask('/notes')
    const spans = sdk()
    await ask('/notes')
    expect(serverSpan(spans()).name).toBe('GET /notes')
  })
})
