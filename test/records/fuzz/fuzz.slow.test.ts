import { expect, test } from 'vitest'
import { runs } from '../../runs.ts'
import { fuzz } from './fuzz.ts'

const CASES = runs(1500)

test(`2.2 Response envelope · 7 Errors: ${CASES} hostile requests get no 5xx, no hidden field and no other envelope, reach nothing out of scope, and change nothing where they are refused`, async () => {
  const statuses = await fuzz(CASES, 20_261_121)
  // They are worth sending: enough of them get through to the store.
  for (const accepted of ['GET 200', 'QUERY 200', 'POST 201', 'PATCH 200', 'DELETE 200']) {
    expect(statuses[accepted], accepted).toBeGreaterThan(CASES / 200)
  }
}, 300_000)
