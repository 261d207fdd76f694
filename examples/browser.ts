/**
 * A page that finds cities of the atlas while you type, and shows the country of the one that you choose.
 *
 * @module
 */

import { createClient } from 'fieldgate/client'
import type { atlas } from './atlas/app.ts'

document.body.innerHTML = '<input type="search" placeholder="City"><ul></ul><output></output>'
const [input, list, output] = ['input', 'ul', 'output'].map((name) => document.querySelector(name))

const api = createClient<ReturnType<typeof atlas>>(location.origin)

input?.addEventListener('input', async () => {
  const found = await api('/cities').list({
    where: { population: { gte: 100_000 } },
    search: (input as HTMLInputElement).value,
    sort: '-population',
    limit: 10,
  })
  if (!found.ok) return output?.replaceChildren(found.error.message)
  const rows = found.data.map(({ name, population = 0, country }) => {
    const row = document.createElement('li')
    row.textContent = `${name}, ${population.toLocaleString('en')}`
    row.onclick = async () => {
      const shown = await api('/countries').get(String(country))
      output?.replaceChildren(shown.ok ? `${name} is in ${shown.data.name}` : shown.error.message)
    }
    return row
  })
  list?.replaceChildren(...rows)
})
