import { createClient } from 'fieldgate/client'
import { api } from '@/lib/api'

// On the server the client calls the app itself, without a request over the network.
const client = createClient<typeof api>('http://localhost/api', {
  fetch: (request, init) => api.handle(new Request(request, init)),
})

export const dynamic = 'force-dynamic'

export default async function Page() {
  const cities = await client('/cities').list({ where: { country: 'NO' } })
  if (!cities.ok) return <p>{cities.error.message}</p>
  return (
    <ul>
      {cities.data.map(({ _id, name }) => (
        <li key={_id}>{name}</li>
      ))}
    </ul>
  )
}
