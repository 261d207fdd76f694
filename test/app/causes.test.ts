import { expect, it } from 'vitest'
import { causeText } from '../../src/ports/values/causes.ts'

it('tells each cause of an error once, also where the message has it already', () => {
  const full = new Error('disk is full')
  const opened = new Error("'a.db' cannot be opened: disk is full", { cause: full })
  const failed = new Error('no backup', { cause: opened })
  expect(causeText(failed)).toBe("no backup: 'a.db' cannot be opened: disk is full")
  expect(causeText(new Error('', { cause: full }))).toBe('disk is full')
})
