import { createClient, type Result } from 'fieldgate/client'
import type { club } from './club.ts'

const api = createClient<ReturnType<typeof club>>('', { onSignedOut: () => void show() })

const element = <E extends HTMLElement = HTMLFormElement>(id: string) =>
  document.getElementById(id) as E

/** A new element with these members and children. */
function make(tag: string, members: object, ...children: (Node | string)[]) {
  const made = Object.assign(document.createElement(tag), members)
  made.append(...children)
  return made
}

/** Waits for a call, then shows what there is now, or what the server said. */
async function run(call: Promise<Result<unknown>>, done = '') {
  const result = await call
  element('note').textContent = result.ok ? done : result.error.message
  if (result.ok) await show()
}

/** Calls `send` with the values of a form. */
function onSubmit(form: HTMLElement, send: (value: (name: string) => string) => unknown) {
  form.onsubmit = (event) => {
    event.preventDefault()
    const data = new FormData(form as HTMLFormElement)
    send((name) => String(data.get(name)))
  }
}

async function show() {
  const me = await api('/auth').me()
  const user = me.ok ? me.data : undefined
  document.body.className = user ? `member ${user.role}` : 'guest'
  element('me').textContent = user ? `${user.email}, ${user.tickets} tickets` : ''
  await showTools()
  if (user) await showLoans(user.role === 'librarian')
}

async function showTools() {
  const search = element('search').s.value
  const found = await api('/tools').list({ search })
  // Answers may overtake each other: that of the latest search counts.
  if (!found.ok || search !== element('search').s.value) return
  const rows = found.data.map(({ _id, name, about = '', photo }) => {
    const date = (label: string) =>
      make('input', { name: label, type: 'date', required: true, ariaLabel: label })
    const form = make(
      'form',
      { className: 'member' },
      date('from'),
      date('to'),
      make('button', {}, 'Book'),
    )
    onSubmit(form, (value) => {
      const body = { tool: _id, from: new Date(value('from')), to: new Date(value('to')) }
      return run(api('/loans').call('POST /book', { body }), `${name} is booked.`)
    })
    const image = photo ? [make('img', { src: photo, alt: '' })] : []
    return make('li', {}, ...image, make('span', {}, `${name} ${about}`), form)
  })
  element('tools').replaceChildren(...rows)
}

/** A reference that `expand` has filled in. */
const filled = (value: unknown) => value as { _id: string; name?: string; email?: string } | null

async function showLoans(isLibrarian: boolean) {
  const found = await api('/loans').list({ expand: ['tool', 'member'], limit: 100 })
  const counts = await api('/loans').aggregate({ count: true, by: ['tool'], sort: '-count' })
  if (!found.ok || !counts.ok) return
  const names = new Map(found.data.map(({ tool }) => [filled(tool)?._id, filled(tool)?.name]))
  const rows = found.data.map(({ _id, tool, member, from, to, status }) => {
    const change = (next: 'lent' | 'returned' | 'cancelled', label: string) => {
      const options = { params: { id: _id }, body: { status: next } }
      const send = () => run(api('/loans').call('POST /:id/status', options))
      return make('button', { onclick: send }, label)
    }
    const buttons = status === 'booked' ? [change('cancelled', 'Cancel')] : []
    if (isLibrarian && status === 'booked') buttons.push(change('lent', 'Lend out'))
    if (isLibrarian && status === 'lent') buttons.push(change('returned', 'Take back'))
    const days = `${from.slice(0, 10)} to ${to.slice(0, 10)}`
    const text = `${filled(tool)?.name}, ${days}, ${status}, ${filled(member)?.email}`
    return make('li', {}, make('span', {}, text), ...buttons)
  })
  element('loans').replaceChildren(...rows)
  const lines = counts.data.map(({ tool, count }) => `${names.get(tool ?? '')}: ${count}`)
  element('statistics').replaceChildren(...lines.map((line) => make('li', {}, line)))
}

onSubmit(element('sign-in'), (value) => {
  const [identifier, otp] = [value('identifier'), value('otp')]
  if (otp) return run(api('/auth').login({ identifier, otp }))
  return run(api('/auth').sendLoginCode({ identifier }), 'Enter the code from the mail.')
})
onSubmit(element('add'), (value) => {
  const [photo] = element('add').photo.files
  const values = { name: value('name'), kind: value('kind') as 'saw' }
  return run(api('/tools').create(photo ? { ...values, photo } : values))
})
onSubmit(element('search'), showTools)
element('search').oninput = showTools
element('out').onclick = () => run(api('/auth').logout())
element('csv').onclick = async () => {
  const select = ['tool.name', 'member.email', 'from', 'to', 'status'] as const
  const file = await api('/loans').export('csv', { expand: ['tool', 'member'], select })
  if (!file.ok) return
  make('a', { href: URL.createObjectURL(await file.data.blob()), download: 'loans.csv' }).click()
}
await show()
