/** The header `traceparent` (W3C Trace Context), by which a client or a proxy says which trace a request belongs to. */

/** What the header says. */
export interface TraceParent {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string
  /** The caller's span: 16 lower-case hexadecimal digits, not all 0. */
  readonly spanId: string
  /** Bit 0 says that the caller records the trace. */
  readonly flags: number
}

// Version 00 ends after the flags; a later version may add more, and ff is not a version.
const TRACE_PARENT =
  /^(?!ff|00-.{52}.)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/

/** The parsed `traceparent`; undefined if there is none or it is invalid. */
export function traceParent(header: string | null): TraceParent | undefined {
  const [, traceId, spanId, flags] = TRACE_PARENT.exec(header ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}
