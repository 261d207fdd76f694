#!/usr/bin/env node
/**
 * The command `create-fieldgate`, which `npm create fieldgate` runs.
 *
 * @module
 */

/** From here on Node runs TypeScript as it is, as the new project does. */
const LEAST = [22, 18] as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1])) {
  console.error(
    `create-fieldgate needs Node ${LEAST.join('.')} or newer; this is ${process.versions.node}.`,
  )
  process.exitCode = 2
} else {
  // An older Node may not even be able to read the rest.
  const { main } = await import('./main.ts')
  process.exitCode = await main(process.argv.slice(2))
}
