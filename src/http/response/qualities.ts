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

/** What an `Accept` wants most of `types`, and more than JSON. A type has to be named: a range that it is in wants JSON. */
export function bestOf<T extends string>(accept: string, types: readonly T[]): T | undefined {
  const wanted = qualitiesIn(accept)
  const json = jsonIn(wanted)
  const qualityOf = (type: T) => wanted.get(type) ?? 0
  const better = types.filter((type) => qualityOf(type) > json)
  return better.sort((a, b) => qualityOf(b) - qualityOf(a))[0]
}

/** Whether an `Accept` takes JSON, where what it wants more is not there. */
export function takesJson(accept: string): boolean {
  return jsonIn(qualitiesIn(accept)) > 0
}

function jsonIn(wanted: ReadonlyMap<string, number>): number {
  const ranges = ['application/json', 'application/*', '*/*']
  return ranges.map((range) => wanted.get(range)).find((one) => one !== undefined) ?? 0
}
