/** The page for people: Scalar where its script is there, else links to the document. */

export interface Page {
  readonly title: string
  readonly document: string
  /** The path of Scalar's script; undefined if there is none. */
  readonly script: string | undefined
  /** The URLs that serve the app: requests from the page may go there. */
  readonly servers: readonly string[]
}

/** Scalar without anything that asks another origin. */
const QUIET = {
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  authentication: { preferredSecurityScheme: 'bearer' },
}

/** The page. Its Content-Security-Policy lets it ask the app and `servers`, and nothing else. */
export function pageResponse({ title, document, script, servers }: Page): Response {
  const links = `<p>The API as <a href="${document}">OpenAPI 3.2</a>, or <a href="${document}?version=3.1">3.1</a>.</p>`
  const content =
    script === undefined
      ? `<h1>${escaped(title)}</h1>
${links}
<p>To see the reference here, install <code>@scalar/api-reference</code> beside <code>fieldgate</code>.</p>`
      : `<style>body:has(.scalar-app) > p { display: none }</style>
${links}
<script id="api-reference" data-configuration="${escaped(JSON.stringify({ ...QUIET, url: document }))}"></script>
<script src="${escaped(script)}"></script>`
  // Asks for the document while the script, which is large, is on its way.
  const ahead = script && `\n<link rel="preload" as="fetch" crossorigin href="${document}">`
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escaped(title)}</title>${ahead ?? ''}
<body>
${content}
</body>
</html>
`
  return new Response(html, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy(servers),
    },
  })
}

function policy(servers: readonly string[]): string {
  const origins = servers.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin)
  return [
    "default-src 'none'",
    "script-src 'self'",
    // Scalar writes its styles into the page.
    "style-src 'unsafe-inline'",
    "img-src 'self' data: blob:",
    'font-src data:',
    ['connect-src', "'self'", ...new Set(origins)].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
