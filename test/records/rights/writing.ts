/**
 * The doors through which records are written: each write is done as the rules say, or nothing is.
 *
 * @module
 */

import { expect } from 'vitest'
import type { Fields } from '../../../src/index.ts'
import type { LoggedChange } from '../../../src/ports/store/changes.ts'
import type { Answer } from '../service.ts'
import type { Account, Caller } from './app.ts'
import { NEW_ID, type Outcome, outcomeOf, restorer, type Write } from './outcomes.ts'
import type { Action } from './programme.ts'
import { flat, marksIn, tool } from './reading.ts'
import { refusedWith, Trial } from './trial.ts'

const METHODS = { create: 'POST', update: 'PATCH', remove: 'DELETE', restore: 'POST' } as const

/** Where a write goes, and what it says. */
function requestOf(write: Write): { method: string; path: string; body: Fields | undefined } {
  const { rules, kind } = write
  const place = kind === 'create' ? rules.mount : `${rules.mount}/${write.id}`
  const method = METHODS[kind]
  if (kind === 'restore')
    return { method, path: `${place}/restore`, body: { changeId: write.changeId } }
  return { method, path: place, body: kind === 'remove' ? undefined : write.values }
}

interface Sent {
  readonly write: Write
  readonly caller: Caller
  readonly key: string
}

/** What a first request with a key came to. */
interface Kept {
  readonly body: string
  readonly role: string
  readonly answer: Answer
}

export class WritingTrial extends Trial {
  /** By who has sent a key, where and which. */
  readonly #kept = new Map<string, Kept>()
  /** What was sent with a key, to be sent again. */
  readonly #sent: Sent[] = []

  /** A write that may be asked for. */
  write(
    kinds: readonly Write['kind'][] = ['create', 'update', 'update', 'remove', 'restore'],
  ): Write {
    const { random, oracle } = this
    const [rules, id] = [this.router(), this.anId()]
    const kind = random.of(kinds as [Write['kind']])
    const values = () => {
      const all = {
        ...{ title: this.mark(), salary: this.mark(), pin: this.mark(), _id: id },
        ...{ team: random.of(['a', 'b']), public: random.chance(50) },
        owner: random.of(this.accounts as [Account]).id,
      }
      return Object.fromEntries(
        Object.entries(all).filter(() => random.chance(kind === 'create' ? 85 : 40)),
      )
    }
    if (kind === 'remove') return { kind, rules, id }
    if (kind === 'create') return { kind, rules, values: values() }
    if (kind === 'update') return { kind, rules, id, values: values() }
    const change = random.chance(70) ? random.of(oracle.changesOf(id) as [LoggedChange]) : undefined
    const { id: changeId } = change ?? random.of(oracle.log as [LoggedChange])
    return { kind, rules, id, changeId }
  }

  /** One write by some caller, through its route or a tool. */
  async checkWrite(): Promise<void> {
    const { random } = this
    const [write, caller] = [this.write(), this.caller()]
    const isTool = write.kind !== 'restore' && random.chance(25)
    const must = outcomeOf(this.oracle, write, caller)
    const answer = isTool ? await this.#byTool(write, caller) : await this.#byRoute(write, caller)
    if (!answer) return
    this.count(`${isTool ? 'tool, ' : ''}${write.kind} ${must.status}`)
    await this.#compare(write, caller, must, answer, isTool)
  }

  #byTool(write: Write, caller: Caller): Promise<Answer> {
    const ask = this.asker(caller)
    const model = write.rules.mount
    if (write.kind === 'remove') return tool(ask, 'remove_record', { model, id: write.id })
    const { values } = write as Write & { kind: 'create' }
    const id = write.kind === 'update' ? write.id : undefined
    return tool(ask, 'write_record', { model, values, ...(id && { id }) })
  }

  /** The answer of a route; undefined if it was compared already. */
  async #byRoute(write: Write, caller: Caller): Promise<Answer | undefined> {
    const { method, path, body } = requestOf(write)
    if (write.rules.isKeyed && this.random.chance(60)) {
      const key = `k${this.#sent.length}`
      this.#sent.push({ write, caller, key })
      return this.#byKey(write, caller, key)
    }
    return this.asker(caller)(method, path, body && { json: body })
  }

  /** What was sent with a key is sent again: by the same or another caller, or with another body. */
  async checkRepeat(): Promise<void> {
    const { random } = this
    if (this.#sent.length === 0) return
    const sent = random.of(this.#sent as [Sent])
    const other = this.write([sent.write.kind])
    const values = 'values' in other ? { values: other.values } : {}
    // As the app serves it now.
    const rules = this.oracle.programme.routers.find(
      ({ mount }) => mount === sent.write.rules.mount,
    )
    if (!rules?.isKeyed) return
    const write = { ...sent.write, ...(random.chance(20) && values), rules } as Write
    const caller = random.chance(40) ? this.caller() : sent.caller
    const must = outcomeOf(this.oracle, write, caller)
    const answer = await this.#byKey(write, caller, sent.key)
    if (answer) await this.#compare(write, caller, must, answer, false)
  }

  /** With a key that was perhaps used before: undefined if it was, and the answer is compared. */
  async #byKey(write: Write, caller: Caller, key: string): Promise<Answer | undefined> {
    const { oracle } = this
    const { method, path, body } = requestOf(write)
    const must = outcomeOf(oracle, write, caller)
    const headers = { 'idempotency-key': key }
    const answer = await this.asker(caller)(method, path, { headers, ...(body && { json: body }) })
    const place = this.#placeOf(write, caller, key)
    // Guards come before.
    if (!place) return answer
    const { name, role } = place
    const known = this.#kept.get(name)
    const text = JSON.stringify(body)
    if (!known) {
      if ('is' in must) this.#kept.set(name, { body: text, role, answer })
      return answer
    }
    const about = this.about('repeated', write, caller, known, answer.status, answer.text)
    expect(await this.look(), about).toEqual([])
    const isSame = known.body === text && known.role === role
    this.count(isSame ? 'repeated' : 'key reused')
    if (isSame) {
      expect([answer.status, answer.text], about).toEqual([known.answer.status, known.answer.text])
      expect(answer.headers.get('idempotency-replayed'), about).toBe('true')
    } else expect([answer.status, marksIn(answer.text)], about).toEqual([422, []])
    return undefined
  }

  /** Whose key it is, and for what; undefined for who is refused. */
  #placeOf(write: Write, caller: Caller, key: string) {
    const { rules, kind } = write
    const { oracle } = this
    const who =
      kind === 'restore' ? restorer(oracle, rules, caller) : oracle.judge(rules, kind, caller)
    if (typeof who === 'number') return undefined
    const owner = who && !caller.allow ? who.id : caller.token
    const { method, path } = requestOf(write)
    return { name: JSON.stringify([owner, method, path, key]), role: who?.role ?? '' }
  }

  /** A write of the very record that the caller, or another one, has seen. */
  async checkConditional(): Promise<void> {
    const { oracle } = this
    const [write, caller] = [this.write(['update', 'remove']), this.caller()]
    const { rules, kind } = write
    const by = (action: Action) => flat(oracle.judge(rules, action, caller) ?? null)
    // Another reader than the writer may see another version.
    if (/^\d/.test(by('read')) || by('read') !== by(kind)) return
    const { method, path, body } = requestOf(write)
    const seen = await this.asker(caller)('GET', path)
    const tag = this.#tagFor(seen)
    const plain = outcomeOf(oracle, write, caller)
    const isCurrent = seen.status === 200 && tag === seen.headers.get('etag')
    const must: Outcome = 'is' in plain && !isCurrent ? { status: 412 } : plain
    const headers = { 'if-match': tag }
    const answer = await this.asker(caller)(method, path, { headers, ...(body && { json: body }) })
    this.count(`if-match ${must.status}`)
    await this.#compare(write, caller, must, answer, false)
  }

  /** The tag of what was seen, or of something else. */
  #tagFor({ status, headers }: Answer): string {
    const others = [...this.tags.keys(), '"nonsense"']
    const isOther = status !== 200 || this.random.chance(50)
    return isOther ? this.random.of(others as [string]) : String(headers.get('etag'))
  }

  async #compare(write: Write, caller: Caller, must: Outcome, answer: Answer, isTool: boolean) {
    const changes = await this.look()
    const about = this.about(write, caller, must, answer.status, answer.text, changes)
    if (!('is' in must)) {
      expect(changes, about).toEqual([])
      this.checkRefusal(answer, refusedWith(must.status), isTool, about)
      return
    }
    expect(answer.status, about).toBe(isTool ? 200 : must.status)
    if (!must.is) {
      expect([changes.map(({ after }) => after), marksIn(answer.text)], about).toEqual([[null], []])
      return
    }
    const id = must.is._id === NEW_ID ? answer.record?._id : must.is._id
    const is = flat({ ...must.is, _id: id })
    const isSame = must.was && flat(must.was) === is
    expect(
      changes.map(({ after }) => flat(after)),
      about,
    ).toEqual(isSame ? [] : [is])
    expect(flat(answer.record), about).toBe(flat({ ...(must.shown as Fields), _id: id }))
  }

  /** Several writes as one: all are done, or none. */
  async checkBatch(): Promise<void> {
    const caller = this.caller()
    const kinds = ['create', 'update', 'update', 'remove'] as const
    const writes = Array.from({ length: 1 + this.random.below(3) }, () => this.write(kinds))
    const outcomes = this.#outcomes(writes, caller)
    const operations = writes.map((one) => requestOf(one))
    const answer = await this.asker(caller)('POST', '/batch', { json: { operations } })
    const changes = await this.look()
    const about = this.about(writes, caller, outcomes, answer.status, answer.text, changes)
    const last = outcomes.at(-1) as Outcome
    this.count(`batch ${last.status}`)
    if (!('is' in last)) {
      expect(changes, about).toEqual([])
      this.checkRefusal(answer, refusedWith(last.status), false, about)
      expect((answer.body as Fields).operation, about).toBe(outcomes.length - 1)
      return
    }
    expect(answer.status, about).toBe(200)
    const parts = answer.records as unknown as { status: number; body: { data?: Fields } }[]
    const shown = outcomes.map((one, at) => {
      const { is, shown: told } = one as Outcome & { is: Fields | null; shown: Fields }
      const _id = is?._id === NEW_ID ? parts[at]?.body.data?._id : is?._id
      return [one.status, is ? { ...told, _id } : null]
    })
    const got = parts.map(({ status, body }) => [status, body.data ?? null])
    expect(flat(got), about).toBe(flat(shown))
  }

  /** What several writes come to, each with what those before have left: the last is the first that is refused. */
  #outcomes(writes: readonly Write[], caller: Caller): Outcome[] {
    const { oracle } = this
    const before = new Map(oracle.docs)
    const outcomes: Outcome[] = []
    for (const [at, write] of writes.entries()) {
      const outcome = outcomeOf(oracle, write, caller)
      outcomes.push(outcome)
      if (!('is' in outcome)) break
      const { is, was } = outcome
      if (is) oracle.docs.set(is._id === NEW_ID ? `${NEW_ID}${at}` : String(is._id), is)
      else oracle.docs.delete(String(was?._id))
    }
    oracle.docs.clear()
    for (const [id, record] of before) oracle.docs.set(id, record)
    return outcomes
  }

  /** Some requests of each kind. */
  async checkRequests(): Promise<void> {
    for (let checks = 0; checks < 5; checks += 1) await this.checkWrite()
    await this.checkBatch()
    await this.checkRepeat()
    await this.checkConditional()
    for (let checks = 0; checks < 6; checks += 1) await this.checkList()
    for (let checks = 0; checks < 3; checks += 1) await this.checkOne()
    await this.checkHistory()
  }
}
