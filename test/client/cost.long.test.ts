import { expect, it } from 'vitest'
import { cost } from './cost.ts'

it('100 models that a client calls add less than 96,000 instantiations to the compiler', async () => {
  const without = await cost('without')
  const used = await cost('with')
  const more = used.instantiations - without.instantiations
  // The time is shown only: on a busy machine it says little.
  const seconds = (used.seconds - without.seconds).toFixed(1)
  console.log(`100 models through a client: ${more} instantiations and ${seconds} s more`)
  expect(more).toBeLessThan(96_000)
})
