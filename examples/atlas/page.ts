/**
 * The page at `/`, for people: what the atlas is, and where to look next.
 *
 * @module
 */

import type { Mountable } from '../../src/index.ts'
import type { State } from './seeding.ts'

/** Reads that a browser can send by following a link. */
const REQUESTS = [
  ['/countries?region=Europe&sort=-area', 'The countries of Europe, the largest first'],
  ['/cities?s=são paulo', 'Cities found by name'],
  [
    '/cities?rangeField=population&range=1000000-&with=country',
    'Cities of a million and more, with their countries',
  ],
  ['/feed/cities?pageSize=5', 'Cities by cursor, five at a time'],
] as const

/** A page of the atlas. */
export const framed = (title: string, head: string, main: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<meta name="description" content="The countries and cities of the world as a REST API, with accounts and favourites: an example of fieldgate.">
${head}
<title>${title}</title>
<style>
  :root { --line: #d4d4d8; --soft: #52525b; --link: #1d4ed8 }
  @media (prefers-color-scheme: dark) { :root { --line: #3f3f46; --soft: #a1a1aa; --link: #93c5fd } }
  body { max-width: 40rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; font: 1rem/1.6 system-ui, sans-serif }
  h1 { margin: 0; font-size: 1.75rem }
  h2 { margin: 2.5rem 0 0; font-size: 1.125rem }
  a { color: var(--link) }
  ul { padding: 0; list-style: none }
  li { padding: .75rem 0; border-top: 1px solid var(--line) }
  li span { display: block; color: var(--soft) }
  code { font-size: .9rem; overflow-wrap: anywhere }
  figure { margin: 1rem 0 0 }
  table { width: 100%; border-spacing: 0 .25rem }
  th { width: 6rem; font-weight: normal; text-align: left }
  td:last-child { width: 9rem; text-align: right; font-variant-numeric: tabular-nums }
  form:not([hidden]) { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1.5rem 0 }
  input { flex: 1 1 10rem; min-width: 0 }
  input, button { padding: .375rem .75rem; font: inherit }
  li form:not([hidden]) { margin: .25rem 0 0 }
  [role=alert] { color: #b91c1c }
  @media (prefers-color-scheme: dark) { [role=alert] { color: #fca5a5 } }
  svg { display: block; width: 100%; height: 1rem; fill: var(--link) }
  progress { width: 100%; accent-color: var(--link) }
  figcaption { color: var(--soft) }
</style>
<body>
<main>
${main}
</main>
</body>
</html>
`

/** The page at `/`; `head` and `top` are for a moment. */
const html = (head: string, top: string, hasAdmin = false) =>
  framed(
    'Atlas',
    head,
    `<h1>Atlas</h1>
<p>The countries and cities of the world as a REST API, with accounts and favourites. It is an example of
<a href="https://github.com/fieldgate/fieldgate#readme">fieldgate</a>.</p>
${top}
<p><a href="/docs">The reference</a> describes every request, and sends it for you. <a href="/docs/openapi.json">The OpenAPI document</a> is for tools.</p>
<p><a href="/your-favourites">Your favourites</a> is a page that follows a list: open it in two windows.</p>
${hasAdmin ? '<p><a href="/admin">The admin page</a> is for people: lists and forms of all that you may see and change.</p>' : ''}
<figure hidden>
<h2>Where people live in cities</h2>
<table></table>
<figcaption>Inhabitants of the cities of each region, from one <code>QUERY /statistics</code>: <code>{"aggregate":{"sum":["population"]},"by":["country"]}</code></figcaption>
</figure>
<h2>A few requests</h2>
<ul>
${REQUESTS.map(([path, about]) => `<li><span>${about}</span> <a href="${encodeURI(path).replaceAll('&', '&amp;')}"><code>GET ${path.replaceAll('&', '&amp;')}</code></a></li>`).join('\n')}
</ul>`,
  )

/** A response for as many seconds as nobody changes it: a deploy does. */
export const kept: { readonly 'Cache-Control': string } = { 'Cache-Control': 'public, max-age=300' }

/** The page while the atlas is seeded. It asks for itself again, so that it needs no script. */
function seedingPage({ part, done, total }: State): string {
  const counts = total > 0 ? `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ` : ''
  return html(
    '<meta http-equiv="refresh" content="1">',
    `<p role="status"><label>The atlas is being filled, once: ${counts}${part} are stored. Requests wait until it is complete.
<progress max="${total || 1}" value="${done}"></progress></label></p>`,
  )
}

/** Draws the chart: a group for each country from the server, summed by region here. */
const script = `
const body = JSON.stringify({ aggregate: { sum: ['population'] }, by: ['country'], limit: 300 })
const headers = { 'Content-Type': 'application/json' }
const [groups, countries] = await Promise.all([
  fetch('/statistics', { method: 'QUERY', headers, body }).then((response) => response.json()),
  fetch('/countries?select=region').then((response) => response.json()),
])
const regionOf = new Map(countries.data.map(({ _id, region }) => [_id, region]))
const people = new Map()
for (const { country, sum } of groups.data) {
  const region = regionOf.get(country) ?? 'Elsewhere'
  people.set(region, (people.get(region) ?? 0) + (sum.population ?? 0))
}
const rows = [...people].sort(([, a], [, b]) => b - a)
const most = rows[0]?.[1] ?? 1
const table = document.querySelector('table')
for (const [region, count] of rows) {
  const row = table.insertRow()
  const head = document.createElement('th')
  head.scope = 'row'
  head.textContent = region
  row.append(head)
  const bar = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  bar.setAttribute('aria-hidden', 'true')
  rect.setAttribute('height', '100%')
  rect.setAttribute('width', (100 * count) / most + '%')
  bar.append(rect)
  row.insertCell().append(bar)
  row.insertCell().textContent = count.toLocaleString('en')
}
document.querySelector('figure').hidden = rows.length === 0
`

/** What pages may load and send. */
export const policy: { readonly 'Content-Security-Policy': string } = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
}

interface WelcomeOptions {
  /** How far the seed is, as long as there is one. */
  readonly seeding: (() => State | undefined) | undefined
  /** Whether the admin page is there. */
  readonly hasAdmin: boolean
}

/** A page that can be read without its script, light or dark as the browser is. */
export function welcomePage({ seeding, hasAdmin }: WelcomeOptions): Mountable {
  const page = html('<script type="module" src="/chart.js"></script>', '', hasAdmin)
  return {
    attach: () => [
      {
        method: 'GET',
        path: '',
        guards: [],
        about: { summary: 'A page for people' },
        handler: () => {
          const state = seeding?.()
          return new Response(state ? seedingPage(state) : page, {
            headers: {
              'Content-Type': 'text/html; charset=utf-8',
              ...(state ? { 'Cache-Control': 'no-store' } : kept),
              ...policy,
            },
          })
        },
      },
      {
        method: 'GET',
        path: '/chart.js',
        guards: [],
        about: { summary: 'The script of the page for people' },
        handler: () =>
          new Response(script, {
            headers: { 'Content-Type': 'text/javascript; charset=utf-8', ...kept },
          }),
      },
    ],
  }
}
