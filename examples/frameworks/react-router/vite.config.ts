import { reactRouter } from '@react-router/dev/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [reactRouter()],
  // The app replies to OPTIONS in development too, as its cors() says.
  server: { cors: false },
})
