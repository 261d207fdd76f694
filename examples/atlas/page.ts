/**
 * The page at `/`, for people: what the atlas is, and where to look next.
 *
 * @module
 */

import type { Mountable } from '../../src/index.ts'

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

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Atlas</title>
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
</style>
<body>
<main>
<h1>Atlas</h1>
<p>The countries and cities of the world as a REST API, with accounts and favourites. It is an example of
<a href="https://github.com/fieldgate/fieldgate#readme">fieldgate</a>.</p>
<p><a href="/docs">The reference</a> describes every request, and sends it for you. <a href="/docs/openapi.json">The OpenAPI document</a> is for tools.</p>
<h2>A few requests</h2>
<ul>
${REQUESTS.map(([path, about]) => `<li><span>${about}</span> <a href="${encodeURI(path).replaceAll('&', '&amp;')}"><code>GET ${path.replaceAll('&', '&amp;')}</code></a></li>`).join('\n')}
</ul>
</main>
</body>
</html>
`

/** A page that needs no script, light or dark as the browser is. */
export function welcomePage(): Mountable {
  return {
    attach: () => [
      {
        method: 'GET',
        path: '',
        guards: [],
        about: { summary: 'A page for people' },
        handler: () =>
          new Response(html, {
            headers: {
              'Content-Type': 'text/html; charset=utf-8',
              'Content-Security-Policy':
                "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
            },
          }),
      },
    ],
  }
}
