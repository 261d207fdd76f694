import { expect, it } from 'vitest'
import { main } from '../../examples/agent/main.ts'

it("an agent finds Portugal's largest cities, and keeps one as a favourite where it may", async () => {
  const cities = [
    { name: 'Lisbon', population: 517_802 },
    { name: 'Porto', population: 249_633 },
    { name: 'Amadora', population: 178_858 },
  ]
  const [asAnyone, asAnn] = await main()
  expect(asAnyone).toMatchObject({ cities })
  expect(asAnyone).not.toHaveProperty('favourite')
  expect(asAnn).toMatchObject({ cities, favourite: 'Lisbon, 517802 people' })
})
