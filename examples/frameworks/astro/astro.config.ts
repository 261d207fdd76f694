import node from '@astrojs/node'
import { defineConfig } from 'astro/config'

export default defineConfig({
  adapter: node({ mode: 'standalone' }),
  // Astro refuses forms of programs and of other sites. Without this check, cookies of your own should be SameSite=Lax.
  security: { checkOrigin: false },
  // The app replies to OPTIONS in development too, as its cors() says.
  vite: { server: { cors: false } },
})
