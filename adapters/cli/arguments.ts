/** The arguments of a command: what makes no sense in them is told in one sentence. */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { whatThereIs } from '../../src/model/suggest.ts'
import { Unusable } from './unusable.ts'

/** What `parseArgs` returns. Throws an `Unusable` that names the argument which makes no sense. */
export function argumentsIn<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    const parsed = parseArgs(config)
    checkOnce(config)
    return parsed
  } catch (error) {
    if (error instanceof Unusable) throw error
    throw new Unusable(mistakeIn(error as NodeJS.ErrnoException, Object.keys(config.options ?? {})))
  }
}

/** Of two values of an option, `parseArgs` drops the first without a word. */
function checkOnce(config: ParseArgsConfig): void {
  const { tokens } = parseArgs({ ...config, tokens: true })
  const given = tokens.flatMap((one) =>
    one.kind === 'option' && one.value !== undefined ? one.name : [],
  )
  const twice = given.find((name, at) => given.indexOf(name) < at)
  if (twice !== undefined) throw new Unusable(`'--${twice}' is given twice`)
}

/** In other words than Node's, which go on about arguments that begin with '-'. */
function mistakeIn({ code, message }: NodeJS.ErrnoException, names: readonly string[]): string {
  const [, name = ''] = /'(?:-\w, )?([^'\s=]+)/.exec(message) ?? []
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const there = names.map((one) => `--${one}`)
    return `there is no option '${name}'.${whatThereIs(name, there)}`
  }
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    return `'${name}' is one argument too many: each value follows the name of its option`
  }
  const takesNone = message.includes('does not take an argument')
  return takesNone ? `'${name}' takes no value` : `'${name}' needs a value`
}
