import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { health } from 'fieldgate/health'
import { serve } from 'fieldgate/node'
import { app } from './app.ts'

const page = (name: string, type: string) => async () =>
  new Response(await readFile(new URL(`public/${name}`, import.meta.url)), {
    headers: { 'Content-Type': type },
  })
app
  .mount('/', health())
  .get('/', page('index.html', 'text/html; charset=utf-8'))
  .get('/web.js', page('web.js', 'text/javascript'))

const { PORT = '3000', HOST = '127.0.0.1' } = process.env
const { url } = await serve(app, { port: Number(PORT), hostname: HOST })
console.log(`The lending club is on ${url}`)
