/** Checks of what `toExpress` is given, before it serves anything. */

/** Throws a `TypeError` if `app` is no app, with what to write instead. */
export function checkApp(app: unknown): void {
  const { handle, serves, attach } = (app ?? {}) as Readonly<Record<string, unknown>>
  if (typeof handle === 'function' && typeof serves === 'function') return
  throw new TypeError(
    `toExpress(app) takes an app that createApp() returned, but got ${nameOf(app)}. ${adviceFor(app, attach)}`,
  )
}

function nameOf(given: unknown): string {
  if (typeof given === 'function') return 'a function'
  return typeof given === 'object' && given !== null ? 'another object' : String(given)
}

function adviceFor(app: unknown, attach: unknown): string {
  if (typeof attach === 'function') {
    return `A router is mounted in an app first: app.mount('/path', router)`
  }
  const instead = typeof app === 'function' ? ', not toExpress(app.handle)' : ''
  return `Write toExpress(app)${instead}`
}
