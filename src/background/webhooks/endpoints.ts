import type { Model } from '../../model/model.ts'
import * as rule from '../../model/option-rules.ts'
import { checkOptions, type Fail, isNames, type Rule } from '../../model/option-rules.ts'
import { whatThereIs } from '../../model/suggest.ts'
import type { ChangeKind, LoggedChange } from '../../ports/store/changes.ts'
import { type WebhookSecret, wrongSecret } from './signature.ts'

/** Where webhooks are sent. */
export interface WebhookEndpoint {
  /** Use `https`. Endpoints are told apart by their URLs. */
  readonly url: string
  /**
   * `whsec_` and 24 to 64 random bytes in base64. While you replace it, the new and the old one: webhooks are then signed
   * with both.
   */
  readonly secret: WebhookSecret
  /** The names of the models whose changes it gets. Default: all that have `changes`. */
  readonly models?: readonly string[]
  /** The kinds of changes that it gets. Default: all. */
  readonly kinds?: readonly ChangeKind[]
}

const KINDS: readonly ChangeKind[] = ['created', 'updated', 'removed']
const names: Rule = { must: 'be a list of names', test: isNames }
const RULES: Readonly<Record<keyof WebhookEndpoint, Rule>> = {
  url: { must: 'be a URL of http or https, without a name and password', test: isUrl },
  secret: rule.whatever,
  models: names,
  kinds: names,
}

function isUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

export function checkEndpoint(endpoint: WebhookEndpoint, fail: Fail): void {
  const failHere: Fail = (message) => fail(`an endpoint: ${message}`)
  checkOptions(endpoint, RULES, failHere)
  const { url, secret, kinds = [] } = endpoint
  if (url === undefined) failHere(`'url' is missing`)
  const wrong = wrongSecret(secret)
  if (wrong !== undefined) failHere(wrong)
  const { test, must } = rule.oneOf(...KINDS)
  const unknown = kinds.find((kind) => !test(kind))
  if (unknown !== undefined) failHere(`'kinds' names '${unknown}', but each must ${must}`)
}

/** Refuses endpoints that name a model without changes, of all models that have them; or if none has. */
export function checkModels(
  endpoints: readonly WebhookEndpoint[],
  logged: readonly Model[],
  fail: Fail,
): void {
  const known = logged.map(({ name }) => name)
  if (known.length === 0) fail(`no model keeps changes: add 'changes: true' to those to tell of`)
  for (const name of endpoints.flatMap(({ models = [] }) => models)) {
    if (known.includes(name)) continue
    fail(
      `an endpoint: 'models' names '${name}', which is no model with 'changes' of this app.${whatThereIs(name, known)}`,
    )
  }
}

export function takes({ models, kinds }: WebhookEndpoint, { model, kind }: LoggedChange): boolean {
  return (models?.includes(model) ?? true) && (kinds?.includes(kind) ?? true)
}
