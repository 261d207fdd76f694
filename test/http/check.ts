/**
 * What a check of the black-box suite is, and how it looks at an answer.
 *
 * @module
 */

import assert from 'node:assert/strict'
import type { Answer, Client } from './client.ts'

/** A check of one rule; checks run in order, on the records that the first one makes. */
export type Check = (client: Client, world: World) => Promise<void>

/** Checks by the sentence that each one shows; section names are the contract's. */
export type Checks = Readonly<Record<string, Check>>

/** What earlier checks made. */
export interface World {
  readonly base: string
  /** Ids by country code. */
  readonly countries: Map<string, string>
  /** Ids by city name. */
  readonly cities: Map<string, string>
  /** Tokens by whose they are. */
  readonly tokens: Map<string, string>
  /** The answers to requests whose bodies trickle in. */
  readonly trickled: Promise<string>[]
}

/** `answer`, which must be a success of this status. */
export function ok(answer: Answer, status = 200): Answer {
  assert.equal(answer.status, status, answer.text)
  if (answer.body) assert.equal(answer.body.success, status < 400)
  return answer
}

/** That `answer` is a refusal of this status and text, in the envelope. */
export function refused(answer: Answer, status: number, error: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body?.error, error)
  assert.equal(answer.body.success, false)
  assert.equal(answer.body.requestId, answer.headers.get('x-request-id'))
}

/** The names of the records in a list. */
export function namesIn(answer: Answer): string[] {
  return ok(answer).body.data.map((record: { name: string }) => record.name)
}
