/**
 * The page, and its scripts and styles.
 *
 * @module
 */

import type { Files } from './files.ts'

/** What a page is made of. */
interface Page {
  readonly title: string
  readonly imageOrigins: readonly string[]
  /** The path of scripts and styles. */
  readonly assets: string
  /** What the script is told. */
  readonly config: object
}

let loaded: Promise<Files> | undefined

/** Loaded with the first request, because most processes never serve the page. */
function files(): Promise<Files> {
  loaded ??= import('#files').then(
    ({ files }) => files(),
    (error: unknown) => {
      loaded = undefined
      throw error
    },
  )
  return loaded
}

/** There the runtime would compress once more what names its coding, and Cloudflare compresses for browsers by itself. */
const isOnWorkers = globalThis.navigator?.userAgent === 'Cloudflare-Workers'

const COMMON = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' }

/** The page. It is the same for everyone: what a user may see comes from the app's routes. */
export async function pageResponse(request: Request, page: Page): Promise<Response> {
  const { script, style, version } = await files()
  const { title, assets, config } = page
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="description" content="${escaped(title)}">
<link rel="icon" href="data:,">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${assets}/${style}">
<body>
<div id="admin" data-config="${escaped(JSON.stringify(config))}"></div>
<noscript>This page needs JavaScript.</noscript>
<script type="module" src="${assets}/${script}"></script>
</body>
</html>
`
  const etag = `"${version}-${hashOf(html)}"`
  const headers = {
    ...COMMON,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy(page),
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-cache',
    ETag: etag,
  }
  const isKnown = request.headers.get('if-none-match')?.includes(etag)
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(html, { headers })
}

/** A script or style. Its name has a hash of what is in it, so browsers keep it for good. */
export async function assetResponse(request: Request, name: string): Promise<Response | undefined> {
  const { assets } = await files()
  const packed = Object.hasOwn(assets, name) ? assets[name] : undefined
  if (packed === undefined) return undefined
  const headers = {
    ...COMMON,
    'Content-Type': name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript',
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
  }
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0))
  const accept = isOnWorkers ? '' : (request.headers.get('accept-encoding') ?? '')
  if (/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(accept)) {
    return new Response(bytes, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
  }
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(plain, { headers })
}

/** Nothing inline, and nothing of another origin but images that the app names. */
function policy({ imageOrigins }: Page): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' data: blob:", ...imageOrigins].join(' '),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** Tells pages apart; nothing rests on it but the browser's cache (FNV-1a). */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0).toString(36)
}
