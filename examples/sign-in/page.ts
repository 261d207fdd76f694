/**
 * The page: it shows one form at a time. Whatever signs in ends in `entered`, which also asks for a second step.
 *
 * @module
 */

import { createClient, type Failure, type Result } from 'fieldgate/client'
import type { Api } from './app.ts'

const auth = createClient<Api>(location.origin)('/auth')

/** What the forms need of each other. */
let identifier = ''
let ticket = ''
let again: (() => Promise<void>) | undefined

const all = (query: string) => [...document.querySelectorAll<HTMLElement>(query)]
const one = (query: string) => document.querySelector<HTMLElement>(query) as HTMLElement

function show(view: string): void {
  for (const each of all('[data-view]')) each.hidden = each.dataset.view !== view
  const shown = one(`[data-view="${view}"]`)
  if (shown instanceof HTMLFormElement) {
    for (const input of shown.querySelectorAll('input'))
      if (input.type !== 'email') input.value = ''
    shown.querySelector<HTMLElement>('input')?.focus()
  }
  one('#wrong').hidden = true
}

function fill(name: string, text: string): void {
  for (const each of all(`[data-is="${name}"]`)) {
    if (each instanceof HTMLAnchorElement) each.href = text
    else each.textContent = text
  }
}

function refuse({ status, message }: Failure): void {
  one('#wrong').textContent = status === 0 ? 'That did not work. Please try again.' : message
  one('#wrong').hidden = false
}

/** Ends a sign-in: shows the account, asks for the second step, or says what is wrong. */
async function entered(result: Result<unknown>): Promise<void> {
  if (result.ok) return account()
  const { ticket: asked, secondStep = [] } = result.error
  if (asked === undefined) return refuse(result.error)
  ticket = asked
  for (const each of all('[data-needs]')) {
    each.hidden = !secondStep.includes(each.dataset.needs as string)
  }
  show(secondStep.includes('totp') ? 'second-step' : 'sign-in')
}

/** Does what needs a recent sign-in: if it is not, the user confirms it first. */
async function recently<T>(call: () => Promise<Result<T>>, done: (data: T) => void): Promise<void> {
  const result = await call()
  if (result.ok) return done(result.data)
  if (result.error.status !== 403) return refuse(result.error)
  again = () => recently(call, done)
  show('confirm')
}

async function account(): Promise<void> {
  const me = await auth.me()
  if (!me.ok) return start()
  fill('email', String(me.data.email))
  const passkeys = await auth.listPasskeys()
  const rows = (passkeys.ok ? passkeys.data : []).map(({ id, name, createdAt }) => {
    const row = document.createElement('li')
    const button = Object.assign(document.createElement('button'), { className: 'link' })
    button.textContent = 'Remove'
    button.onclick = () => recently(() => auth.deletePasskey(id), account)
    row.append(`${name}, ${new Date(createdAt).toLocaleDateString()}`, button)
    return row
  })
  one('#passkeys').replaceChildren(...rows)
  show('account')
}

function start(): void {
  show('sign-in')
  void offerPasskeys()
}

/** The browser offers passkeys in the first field, if it can; another way in ends this one. */
async function offerPasskeys(): Promise<void> {
  if (!(await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.())) return
  const signedIn = await auth.passkeys.signIn({ autofill: true })
  if (signedIn.ok) await entered(signedIn)
}

/** What the forms do. */
const forms: Readonly<Record<string, (given: Record<string, string>) => Promise<void>>> = {
  'sign-in': async (given) => {
    identifier = given.identifier ?? ''
    await entered(await auth.login({ identifier, password: given.password ?? '' }))
  },
  register: async ({ email = '', password = '' }) =>
    entered(await auth.register({ email, password })),
  'second-step': async ({ totp }) => entered(await auth.login({ ticket, totp })),
  recovery: async ({ recoveryCode }) => entered(await auth.login({ ticket, recoveryCode })),
  'mail-code': async ({ otp = '' }) => entered(await auth.login({ identifier, otp })),
  reset: async ({ code = '', newPassword = '' }) => {
    const reset = await auth.resetPassword({ identifier, code, newPassword })
    if (!reset.ok) return refuse(reset.error)
    await entered(await auth.login({ identifier, password: newPassword }))
  },
  confirm: async ({ password }) => {
    const confirmed = await auth.confirmLogin({ password })
    if (!confirmed.ok) return entered(confirmed)
    await again?.()
  },
  enrol: async ({ code = '' }) => {
    const confirmed = await auth.confirmTotp({ ticket, code })
    if (!confirmed.ok) return refuse(confirmed.error)
    const items = confirmed.data.recoveryCodes.map((text) => {
      const item = document.createElement('li')
      item.append(Object.assign(document.createElement('code'), { textContent: text }))
      return item
    })
    one('#codes').replaceChildren(...items)
    show('codes')
  },
}

/** What the buttons do. */
const buttons: Readonly<Record<string, () => Promise<void>>> = {
  passkey: async () => entered(await auth.passkeys.signIn()),
  'second-passkey': async () => entered(await auth.passkeys.signIn({ ticket })),
  'mail-code': () => mailed('mail-code', (to) => auth.sendLoginCode({ identifier: to })),
  forgot: () => mailed('reset', (to) => auth.forgotPassword({ identifier: to })),
  'add-passkey': () =>
    recently(() => auth.passkeys.register({ name: navigator.platform || 'Passkey' }), account),
  'begin-totp': () =>
    recently(
      () => auth.createTotp(),
      (begun) => {
        ticket = begun.ticket
        fill('secret', begun.secret.replace(/.{4}/g, '$& '))
        fill('uri', begun.uri)
        show('enrol')
      },
    ),
  'sign-out': async () => {
    await auth.logout()
    start()
  },
  kept: account,
}

/** Asks for a mail to the address in the form. */
async function mailed(view: string, send: (to: string) => Promise<Result<string>>): Promise<void> {
  const input = document.querySelector<HTMLInputElement>('input[name="identifier"]')
  if (!input?.reportValidity()) return
  identifier = input.value
  const sent = await send(identifier)
  if (!sent.ok) return refuse(sent.error)
  fill('identifier', identifier)
  show(view)
}

/** Runs one thing at a time; the button shows it. */
async function busy(button: HTMLButtonElement | null, work: () => Promise<void>): Promise<void> {
  if (button) button.disabled = true
  await work()
  if (button) button.disabled = false
}

document.addEventListener('submit', (event) => {
  event.preventDefault()
  const form = event.target as HTMLFormElement
  const given = Object.fromEntries(new FormData(form)) as Record<string, string>
  void busy(form.querySelector('button.main'), async () =>
    forms[form.dataset.view as string]?.(given),
  )
})
document.addEventListener('click', ({ target }) => {
  const button = (target as HTMLElement).closest<HTMLButtonElement>('button[type="button"]')
  const { show: view, do: name } = button?.dataset ?? {}
  if (view) show(view)
  if (name) void busy(button, async () => buttons[name]?.())
})

await account()
