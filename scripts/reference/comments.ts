/**
 * Doc comments as Markdown.
 *
 * @module
 */

import type { JSDocableNode } from 'ts-morph'

/** The text of a declaration's doc comment; its last one, as a file's `@module` comment may precede it. */
export function commentOf(node: Partial<Pick<JSDocableNode, 'getJsDocs'>>): string {
  const comment = node.getJsDocs?.().at(-1)
  if (!comment) return ''
  const deprecated = comment.getTags().find((tag) => tag.getTagName() === 'deprecated')
  const reason = deprecated?.getCommentText() ?? ''
  const told = deprecated ? `**Deprecated.** ${reason}` : ''
  return [unwrapped(comment.getDescription()), unwrapped(told)].filter(Boolean).join('\n\n')
}

/** The comment with `@module` at the top of a file, without its lines of program. */
export function moduleComment(source: string): string {
  const [, text = ''] = /^\/\*\*([\s\S]*?)@module/.exec(source) ?? []
  return unwrapped(text.replace(/^\s*\* ?/gm, ''))
}

/** One line for each paragraph; code and lists keep theirs. */
function unwrapped(text: string): string {
  return text
    .trim()
    .split(/^(```[\s\S]*?^```)$/m)
    .flatMap((part) => (part.startsWith('```') ? part : part.split(/\n{2,}/)))
    .map((block) => (/^(?:```|[-|] )/.test(block) ? block : block.replace(/\s*\n\s*/g, ' ').trim()))
    .filter((block) => block !== '')
    .join('\n\n')
}

/** What an option's comment says: its meaning, and the default in words. */
export interface OptionComment {
  readonly meaning: string
  readonly fallback: string
}

/** Takes "Default 10, at most 100." out of a comment. What follows a semicolon or a colon there is meaning. */
export function optionComment(text: string): OptionComment {
  const found = /(?<=^|\s)Default:? (\S[\s\S]*?)\.(?=\s|$)/.exec(text)
  if (!found) return { meaning: text, fallback: /(`[^`]+`), the default/.exec(text)?.[1] ?? '' }
  const [sentence, said = ''] = found
  const [fallback = '', ...more] = said.split(/[;:] /)
  const rest = capitalised(more.join('; '))
  const meaning = text.replace(sentence, rest && `${rest}.`).replace(/ {2,}/g, ' ')
  return { meaning: meaning.trim(), fallback }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
