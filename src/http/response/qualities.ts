/** Header fields that weigh what the client accepts (RFC 9110, 12.4.2). */

/** The names in a field such as `Accept` or `Accept-Encoding`, in lower case, with their weights from 0 to 1. */
export function qualitiesIn(header: string): Map<string, number> {
  const qualities = new Map<string, number>()
  for (const one of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim())
    const q = parameters.find((part) => part.startsWith('q='))
    const quality = q === undefined ? 1 : Number(q.slice(2))
    if (name !== '') qualities.set(name, quality >= 0 && quality <= 1 ? quality : 0)
  }
  return qualities
}

/** The weight of JSON among these; 0 if the client does not want it. */
export function jsonQuality(qualities: ReadonlyMap<string, number>): number {
  const ranges = ['application/json', 'application/*', '*/*']
  return ranges.map((range) => qualities.get(range)).find((one) => one !== undefined) ?? 0
}
