-- wrk ... -s post_body.lua URL -- FILE CONTENT-TYPE: POST of a file's bytes, built once.
local text

function init(args)
  local file = assert(io.open(args[1], "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  wrk.headers["Content-Type"] = args[2]
  file:close()
  text = wrk.format()
end

function request()
  return text
end
