/** What decides how records are shown beside the request: another version of the app may show the same ones in another way. */

import { hexDigestOf } from '#hmac'
import type { Model } from '../../model/model.ts'
import { declaredText } from '../../ports/store/declared-text.ts'
import { madeOnce } from '../../ports/values/once.ts'
import { demandsOf } from '../../upkeep/changes/model-history.ts'

/** What decides how much of a model's records is shown, and in which form. Each live list that is opened asks for it. */
export const shownBy: (model: Model) => unknown = /* @__PURE__ */ madeOnce((model) => {
  const { name, collection, hidden, output, convert, renamed, declared, shape } = model
  const fields = declaredText(declared) ?? [...shape.fields.keys()]
  return [name, collection, hidden, output, convert, [...renamed], fields, demandsOf(model)]
})

/** A digest of `value`; a function counts by its text. */
export function digestOf(value: unknown): string {
  const text = JSON.stringify(value, (_key, one) => (typeof one === 'function' ? String(one) : one))
  return hexDigestOf(text).slice(0, 32)
}
