/**
 * Shows Markdown as GitHub does, where VitePress would take it for a template of Vue.
 *
 * @module
 */

import { posix } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

/** HTML that pages may use; anything else in `<…>` is text. */
const TAGS = /^<\/?(?:a|b|br|details|em|i|img|kbd|strong|sub|summary|sup)\b/

/** `repository` is where links lead that leave the folder docs. */
export function asOnGitHub(markdown: MarkdownRenderer, repository: string): void {
  const { rules } = markdown.renderer
  const plain = (text: string) => markdown.utils.escapeHtml(text).replaceAll('{{', '&#123;&#123;')
  rules.text = (tokens, index) => plain(tokens[index]?.content ?? '')
  rules.code_inline = (tokens, index) => `<code>${plain(tokens[index]?.content ?? '')}</code>`
  rules.html_inline = (tokens, index) => {
    const { content = '' } = tokens[index] ?? {}
    return TAGS.test(content) ? content : plain(content)
  }
  rules.html_block = (tokens, index) => {
    // Comments hold what only tests need.
    const content = (tokens[index]?.content ?? '').replace(/<!--[\s\S]*?-->/g, '')
    return content.trim() === '' || TAGS.test(content) ? content : plain(content)
  }
  markdown.core.ruler.push('links-out-of-docs', ({ tokens, env }) => {
    const { relativePath = '' } = env as { relativePath?: string }
    for (const link of tokens.flatMap(({ children }) => children ?? [])) {
      const href = link.type === 'link_open' ? link.attrGet('href') : null
      if (!href || /^(?:[a-z]+:|#|\/)/i.test(href)) continue
      const path = posix.normalize(posix.join('docs', posix.dirname(relativePath), href))
      if (!path.startsWith('docs/')) link.attrSet('href', `${repository}${path}`)
    }
  })
}
