/**
 * All scenarios, and a run through some of their cases.
 *
 * @module
 */

import { optionScenarios } from './account-options.ts'
import { accountScenarios } from './accounts.ts'
import { backgroundScenarios } from './background.ts'
import { recordScenarios } from './records.ts'
import { type Choice, explore, type Found, type Ground, type Scenario } from './run.ts'
import { signInScenarios } from './sign-ins.ts'

export const scenarios: readonly Scenario[] = [
  ...signInScenarios,
  ...accountScenarios,
  ...optionScenarios,
  ...recordScenarios,
  ...backgroundScenarios,
]

/** Tries some cases of each of `those`, of each others; resolves to what went wrong, as texts. */
export async function wrongIn(
  ground: Ground,
  those: readonly Scenario[],
  choice: Choice,
): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const [at, scenario] of those.entries()) {
    const from = at + (choice.from ?? 0)
    wrong.push(...(await wrongOf(ground, scenario, { ...choice, from })))
  }
  return wrong
}

/** The same for one scenario. */
export async function wrongOf(
  ground: Ground,
  scenario: Scenario,
  choice: Choice,
): Promise<readonly string[]> {
  const { found } = await explore(ground, scenario, choice)
  return found.map(textOf)
}

export function textOf({ scenario, kind, call, at, problem }: Found): string {
  return `${scenario}: ${kind} ${call} (${at}): ${problem}`
}
