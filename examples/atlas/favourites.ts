/**
 * The page at `/your-favourites`: a list that is followed, so that each window shows what another one changes.
 *
 * @module
 */

import type { Mountable } from '../../src/index.ts'
import { framed, kept, policy } from './page.ts'

const page = framed(
  'Your favourites',
  '<script type="module" src="/your-favourites/script.js"></script>',
  `<h1>Your favourites</h1>
<p role="alert"></p>
<form id="account" hidden>
<input name="email" type="email" autocomplete="username" placeholder="Email" aria-label="Email" required>
<input name="password" type="password" autocomplete="current-password" placeholder="Password" aria-label="Password" required>
<button value="login">Sign in</button>
<button value="register">Sign up</button>
</form>
<section hidden>
<p>The same in every window, as it changes: this page follows <code>GET /favourites</code> as <code>text/event-stream</code>. <button id="leave">Sign out</button></p>
<form id="add">
<input name="city" placeholder="A city" aria-label="A city" required>
<button>Add</button>
</form>
<ul></ul>
</section>`,
)

/** Without a build, it reads the events itself; a page with one uses `live` of the typed client. */
const script = `
const find = (selector, inside = document) => inside.querySelector(selector)
const headers = () => ({ Authorization: 'Bearer ' + localStorage.token })
let leaving = new AbortController()

async function ask(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: { ...(localStorage.token && headers()), 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  const { error = '', data } = await response.json()
  find('[role=alert]').textContent = error
  return data
}

// The list, as the server tells it.
const rows = new Map()

function show({ _id, city, note = '' }) {
  if (!rows.has(_id)) {
    const row = document.createElement('li')
    row.innerHTML = '<b></b> <span></span><form><input aria-label="Note" placeholder="A note"><button>Save</button><button type="button">Remove</button></form>'
    find('form', row).onsubmit = (event) => {
      event.preventDefault()
      ask('PATCH', '/favourites/' + _id, { note: find('input', row).value })
    }
    find('[type=button]', row).onclick = () => ask('DELETE', '/favourites/' + _id)
    rows.set(_id, row)
    find('ul').prepend(row)
  }
  const row = rows.get(_id)
  find('b', row).textContent = city?.name ?? 'A city that is gone'
  find('span', row).textContent = city?.population ? city.population.toLocaleString('en') + ' inhabitants' : ''
  // Nobody loses what they type.
  if (document.activeElement !== find('input', row)) find('input', row).value = note
}

function hide({ _id }) {
  rows.get(_id)?.remove()
  rows.delete(_id)
}

const events = {
  records(all) {
    for (const _id of rows.keys()) hide({ _id })
    for (const record of all.reverse()) show(record)
  },
  set: show,
  unset: hide,
}

async function follow(signal) {
  for (let last; !signal.aborted; ) {
    try {
      const own = { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) }
      const response = await fetch('/favourites', { headers: { ...headers(), ...own }, signal })
      if (response.status === 401) return leave()
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        const blocks = (text + read.value).split('\\n\\n')
        text = blocks.pop()
        for (const block of blocks) {
          const { id, event, data } = Object.fromEntries(block.split('\\n').map((line) => line.split(/: (.*)/)))
          events[event]?.(JSON.parse(data).data)
          last = id ?? last
        }
      }
    } catch {
      // The connection broke: it goes on where it was.
    }
    await new Promise((resolve) => setTimeout(resolve, 2000))
  }
}

function enter() {
  const isIn = Boolean(localStorage.token)
  find('#account').hidden = isIn
  find('section').hidden = !isIn
  leaving = new AbortController()
  if (isIn) follow(leaving.signal)
}

function leave() {
  leaving.abort()
  localStorage.removeItem('token')
  events.records([])
  enter()
}

find('#leave').onclick = leave
find('#account').onsubmit = async (event) => {
  event.preventDefault()
  const values = Object.fromEntries(new FormData(event.target))
  const data = await ask('POST', '/auth/' + event.submitter.value, values)
  if (!data) return
  event.target.reset()
  localStorage.token = data.token
  enter()
}
find('#add').onsubmit = async (event) => {
  event.preventDefault()
  const input = find('[name=city]')
  const [city] = (await ask('GET', '/cities?page=1&pageSize=1&s=' + encodeURIComponent(input.value))) ?? []
  if (!city) return (find('[role=alert]').textContent = 'There is no such city.')
  if (await ask('POST', '/favourites', { city: city._id })) input.value = ''
}
enter()
`

/** The page and its script. */
export function favouritesPage(): Mountable {
  const response = (type: string, body: string) =>
    new Response(body, {
      headers: { 'Content-Type': `text/${type}; charset=utf-8`, ...kept, ...policy },
    })
  return {
    attach: () => [
      {
        method: 'GET',
        path: '',
        guards: [],
        about: { summary: 'A page of favourites' },
        handler: () => response('html', page),
      },
      {
        method: 'GET',
        path: '/script.js',
        guards: [],
        about: { summary: 'The script of the page of favourites' },
        handler: () => response('javascript', script),
      },
    ],
  }
}
