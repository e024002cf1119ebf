// Creates a plant with a random id: ACCESS_TOKEN=… java -jar create-plant.jar http://127.0.0.1:3000 'Monstera deliciosa'
import java.io.IOException
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.security.SecureRandom
import java.time.Duration
import kotlin.random.Random
import kotlin.system.exitProcess

const val MAX_ATTEMPTS = 6

/** Nothing was stored, and the same request can succeed later. */
val NOT_STORED = setOf(4080, 5030, 5032)

val client: HttpClient = HttpClient.newHttpClient()

/** A string as JSON. With a JSON library, use that instead. */
fun json(text: String): String = text.asSequence().joinToString("", "\"", "\"") {
    if (it < ' ' || it == '"' || it == '\\') "\\u%04x".format(it.code) else it.toString()
}

fun send(address: String, body: String): HttpResponse<String> {
    val request = HttpRequest.newBuilder(URI("$address/plants"))
        .timeout(Duration.ofSeconds(20)) // longer than the deadline of the service, which is 15 s
        .header("Authorization", "Bearer ${System.getenv("ACCESS_TOKEN")}")
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build()
    return client.send(request, HttpResponse.BodyHandlers.ofString())
}

/** The error number; 0 when the body has none. */
fun errorOf(body: String): Int =
    Regex("\"error\"\\s*:\\s*(\\d+)").find(body)?.groupValues?.get(1)?.toInt() ?: 0

fun createPlant(address: String, body: String): String {
    var unknown = false
    for (attempt in 1..MAX_ATTEMPTS) {
        var retryAfterMs = 0L
        try {
            val response = send(address, body)
            val error = errorOf(response.body())
            retryAfterMs = response.headers().firstValue("Retry-After").map { it.toLong() * 1000 }.orElse(0)
            when {
                response.statusCode() == 200 || (error == 4006 && unknown) -> return "stored"
                error == 5031 || (error == 0 && response.statusCode() >= 500) -> unknown = true
                error in NOT_STORED -> {}
                unknown -> return "unknown"
                else -> return "refused ${if (error == 0) response.statusCode() else error}"
            }
        } catch (_: IOException) { // no connection, a broken one, a time-out
            unknown = true
        }
        if (attempt < MAX_ATTEMPTS) Thread.sleep(retryAfterMs + Random.nextLong(100L shl attempt))
    }
    return if (unknown) "unknown" else "not stored"
}

fun main(args: Array<String>) {
    val id = SecureRandom().nextLong()
    val outcome = createPlant(args[0], """{"id":$id,"name":${json(args[1])}}""")
    println("$id $outcome")
    exitProcess(if (outcome == "stored") 0 else 1)
}
