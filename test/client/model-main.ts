import { interleaved, lastWins } from './model.ts'

const wrong: string[] = []
for (let seed = 0; seed < Number(process.argv[2]); seed += 1) {
  wrong.push(...(await interleaved(seed)), ...(await lastWins(seed)))
}
console.log(JSON.stringify(wrong))
// Locks that tell tabs something are held for some seconds more.
const { Deno: deno } = globalThis as { Deno?: { exit(): void } }
deno?.exit()
