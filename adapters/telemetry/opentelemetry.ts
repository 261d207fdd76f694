/**
 * Traces through OpenTelemetry: choose it if your program registers an OpenTelemetry SDK.
 *
 * Names and attributes are those of the semantic conventions for HTTP and database spans, version 1.
 *
 * @module
 */

import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import {
  methodName,
  type ObservedRequest,
  type Observer,
} from '../../src/ports/services/observer.ts'
import { traceParent } from '../../src/ports/services/trace-parent.ts'
import { pathOf } from '../../src/ports/values/paths.ts'

/**
 * Creates a SERVER span for each request, with the `traceparent` header's span as its parent, and in it a CLIENT span
 * for each store call. Without an SDK it creates none.
 *
 * ```ts
 * const app = createApp({ store, telemetry: telemetry() })
 * ```
 */
export function telemetry(): Observer {
  return {
    async request(request, respond) {
      const method = methodName(request.method)
      const within = parentOf(request)
      const options = { kind: SpanKind.SERVER, attributes: attributesOf(request, method) }
      const span = tracerNow().startSpan(spanName(method), options, within)
      const { traceId } = span.spanContext()
      if (!isSpanContextValid(span.spanContext())) return respond()
      request.traceId = traceId
      const response = await context.with(trace.setSpan(within, span), respond)
      finish(span, request, method, response.status)
      return response
    },
    async storeCall({ store, collection, operation }, run) {
      // A call outside of requests, e.g. at start-up, would be a trace of its own.
      if (!trace.getActiveSpan()) return run()
      const attributes = {
        'db.system.name': store,
        'db.collection.name': collection,
        'db.operation.name': operation,
      }
      const options = { kind: SpanKind.CLIENT, attributes }
      const span = tracerNow().startSpan(`${operation} ${collection}`, options)
      try {
        return await context.with(trace.setSpan(context.active(), span), run)
      } catch (error) {
        // The error's message may contain values of records.
        fail(span, error instanceof Error ? error.name : typeof error)
        throw error
      } finally {
        span.end()
      }
    },
  }
}

/** Since 1.10 of the API, a tracer from before the SDK was registered makes no spans. */
function tracerNow(): Tracer {
  return trace.getTracer('fieldgate')
}

/** The context of the calling span, by the registered propagator, else by `traceparent`. */
function parentOf({ headers }: ObservedRequest): Context {
  const parent = propagation.extract(context.active(), headers, {
    get: (from, name) => from.get(name) ?? undefined,
    keys: (from) => [...from.keys()],
  })
  const header = trace.getSpanContext(parent) ? undefined : traceParent(headers.get('traceparent'))
  if (!header) return parent
  const { traceId, spanId, flags: traceFlags } = header
  return trace.setSpanContext(parent, { traceId, spanId, traceFlags, isRemote: true })
}

function attributesOf({ method: sent, url }: ObservedRequest, method: string): Attributes {
  return {
    'http.request.method': method,
    ...(method !== sent && { 'http.request.method_original': sent }),
    'url.path': pathOf(url),
    'url.scheme': url.startsWith('https:') ? 'https' : 'http',
  }
}

function finish(span: Span, { route }: ObservedRequest, method: string, status: number): void {
  if (route !== '') {
    span.updateName(`${spanName(method)} ${route}`)
    span.setAttribute('http.route', route)
  }
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) fail(span, String(status))
  span.end()
}

/** Unknown methods would each create a span name of their own. */
function spanName(method: string): string {
  return method === '_OTHER' ? 'HTTP' : method
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}
