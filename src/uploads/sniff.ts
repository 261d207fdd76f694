/** Detects a file's type from its first bytes: never from its name or from what the client says. */

export interface FileType {
  readonly mime: string
  /** Without the dot; letters and digits only. */
  readonly extension: string
}

/** Images that browsers show without running anything. */
const INLINE = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/avif'])

const SVG: FileType = { mime: 'image/svg+xml', extension: 'svg' }
const HTML: FileType = { mime: 'text/html', extension: 'html' }
const GZIP: FileType = { mime: 'application/gzip', extension: 'gz' }
const XML: FileType = { mime: 'application/xml', extension: 'xml' }

/** The type of a file that starts with `head` (the first 64 KiB are enough), or undefined if it is unknown. */
export async function sniff(head: Uint8Array): Promise<FileType | undefined> {
  // Markup first: a browser would run it, even if the bytes are something else too.
  const markup = markupType(head)
  if (markup) return markup
  // Stop here: to look further, the compressed content would have to be unpacked.
  if (head[0] === 0x1f && head[1] === 0x8b) return GZIP
  // Loaded with the first file: the package knows hundreds of formats.
  const { fileTypeFromBuffer } = await import('file-type/core')
  try {
    const found = await fileTypeFromBuffer(head)
    if (!found) return undefined
    return { mime: found.mime, extension: found.ext.replace(/[^a-z0-9]/g, '') || 'bin' }
  } catch {
    return undefined
  }
}

export function dispositionOf(mime: string): 'inline' | 'attachment' {
  return INLINE.has(mime) ? 'inline' : 'attachment'
}

/** Whether it is HTML, SVG or XML, by the first thing after blanks, comments, declarations and doctypes. */
function markupType(head: Uint8Array): FileType | undefined {
  let text = textOf(head).replace(/^[\uFEFF\s\0]+/, '')
  if (!/^<[a-z!?/]/i.test(text)) return undefined
  let declared = false
  for (let skipped = PROLOGUE.exec(text); skipped; skipped = PROLOGUE.exec(text)) {
    declared ||= /^<\?xml/i.test(skipped[0])
    if (/^<!doctype\s+html/i.test(skipped[0])) return HTML
    text = text.slice(skipped[0].length)
  }
  const root = /^<(?:[\w.-]+:)?([\w.-]+)/.exec(text)?.[1]?.toLowerCase()
  if (root === 'svg') return SVG
  if (root === 'html' || !declared) return HTML
  return XML
}

/** A comment, declaration or doctype, with the blanks after it. */
const PROLOGUE = /^(?:<!--[^]*?-->|<\?[^]*?\?>|<!doctype(?:[^>[]|\[[^\]]*\])*>)\s*/i

/** Browsers detect UTF-16 by its byte order mark; in all other encodings, markup is ASCII. */
function textOf(head: Uint8Array): string {
  const start = head.subarray(0, 4096)
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le').decode(start)
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder('utf-16be').decode(start)
  return new TextDecoder('utf-8').decode(start)
}
